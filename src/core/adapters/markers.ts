import { MARKER_KINDS, type MarkerContent, type MarkerKind } from '../../protocol/markers/marker.ts';
import { MarkerLines } from '../../protocol/markers/marker-stream.ts';
import type { Adapter, AdapterContext, AdapterKind } from '../run/attempt/adapter.ts';
import { after, type StopGuard } from '../run/attempt/guards/guard.ts';
import { isOkExit } from '../run/outcome.ts';
import { FileClaims } from './file-claims.ts';
import { warnOfReplaced } from './json-object.ts';
import { blockedError, MarkerEvents } from './marker-events.ts';

/**
 * A program that waits for an answer prints nothing after its question: after this silence the question is complete.
 */
const QUIET_MS = 1000;

export const MARKERS: AdapterKind = {
  make: (context) => new MarkersAdapter(context),
  isText: true,
};

/** The markers of the protocol, and those of the manifest, whose text is kept as it is. */
function kindsOf({ plan }: AdapterContext): readonly MarkerKind[] {
  const { markers = [] } = plan.tool.manifest;
  const own = markers.map(({ name, reach }) => ({
    name,
    reach,
    read: ({ head, body }: MarkerContent) => ({ text: [head, ...body].join('\n').trim() }),
  }));
  return [...MARKER_KINDS, ...own];
}

/** A program that reports with markers in its text (contract §8). Other lines become `log` events. */
class MarkersAdapter implements Adapter {
  readonly keepsEmptyLines = true;
  readonly #context: AdapterContext;
  readonly #claims: FileClaims;
  readonly #events: MarkerEvents;
  readonly #lines: MarkerLines;
  #stopTimer: StopGuard = () => {};

  constructor(context: AdapterContext) {
    this.#context = context;
    this.#claims = new FileClaims(context);
    this.#events = new MarkerEvents(context, this.#claims);
    this.#lines = new MarkerLines((piece) => {
      if (piece.kind === 'marker') this.#events.take(piece.marker);
      else if (piece.text.trim() === '') return;
      else if (piece.cut) context.intake.accept({ type: 'log', level: 'info', msg: piece.text, cut: true });
      else context.intake.plainLine(piece.text);
    }, kindsOf(context));
  }

  get files() {
    return this.#claims.measured;
  }

  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void {
    this.close();
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
    if (!cut) warnOfReplaced(this.#context.intake, text, bytes.subarray(start, end));
    this.#lines.line(text, cut);
    if (this.#lines.isOpen)
      this.#stopTimer = after(QUIET_MS, () => this.#context.later(() => this.#lines.flush()));
  }

  answer(line: string): string {
    this.#events.answered(String(JSON.parse(line).action_id));
    return line;
  }

  settle(): Promise<void> {
    this.#lines.flush();
    return this.#claims.settle();
  }

  end(rc: number | null): void {
    const { intake, plan } = this.#context;
    const { blocked, complete } = this.#events;
    if (rc === null) return;
    const isOk = isOkExit(rc, plan.tool.manifest.exit_codes);
    if (blocked !== undefined && isOk) intake.accept(blockedError(blocked, ''));
    else if (complete !== undefined) {
      const { summary, iterations } = complete;
      intake.accept({
        type: 'result',
        status: 'ok',
        ...(iterations !== null && { metrics: { iterations } }),
        data: { output: summary, files: this.#claims.verified },
      });
    }
  }

  close(): void {
    this.#stopTimer();
  }
}
