import type { Marker } from '../../protocol/markers/marker.ts';
import { MarkerStream } from '../../protocol/markers/marker-stream.ts';

/** The maximum text of one event, and of the agent's last words. */
const MAX_TEXT_CHARS = 65_536;

/** Splits an agent's text, which arrives in parts, into markers and log events of one passage each. */
export class AgentText {
  readonly #onMarker: (marker: Marker) => void;
  readonly #onText: (text: string) => void;
  readonly #encoder = new TextEncoder();
  #stream: MarkerStream | undefined;
  #passage: string[] = [];
  #passageChars = 0;
  #said = '';
  #lastSaid = '';

  constructor(on: { marker: (marker: Marker) => void; text: (text: string) => void }) {
    this.#onMarker = on.marker;
    this.#onText = on.text;
  }

  /** The last text between two calls of `end`, or its beginning when it is very long. */
  get lastSaid(): string {
    return this.#lastSaid;
  }

  push(text: string): void {
    this.#stream ??= new MarkerStream((piece) => {
      if (piece.kind === 'text') this.#gather(piece.text);
      else {
        this.#reportPassage();
        this.#onMarker(piece.marker);
      }
    });
    if (this.#said.length < MAX_TEXT_CHARS) this.#said += text.slice(0, MAX_TEXT_CHARS - this.#said.length);
    this.#stream.push(this.#encoder.encode(text));
  }

  /** The text is complete. */
  end(): void {
    if (this.#stream === undefined) return;
    this.#stream.end();
    this.#stream = undefined;
    this.#reportPassage();
    this.#lastSaid = this.#said;
    this.#said = '';
  }

  #gather(line: string): void {
    this.#passage.push(line);
    this.#passageChars += line.length + 1;
    if (this.#passageChars > MAX_TEXT_CHARS) this.#reportPassage();
  }

  #reportPassage(): void {
    const text = this.#passage.join('\n').trim();
    this.#passage = [];
    this.#passageChars = 0;
    if (text !== '') this.#onText(text);
  }
}
