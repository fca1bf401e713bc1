import { readdirSync, readFileSync } from 'node:fs';

const CORPUS = new URL('../../src/protocol/v1/corpus/', import.meta.url);

/** One line of the corpus: the file's subject, its place in the file, and the message. */
export interface CorpusLine {
  subject: string;
  at: string;
  line: string;
  message: Record<string, unknown>;
}

/** Valid messages, as tools and the runner write them. The subject is the type, or `unknown`. */
export function acceptedLines(): CorpusLine[] {
  return readFolder('accept').map((entry) => ({ ...entry, message: JSON.parse(entry.line) }));
}

/** Invalid messages, each with one fault. The subject is the type, or `envelope`. */
export function rejectedLines(): (CorpusLine & { why: string })[] {
  return readFolder('reject').map((entry) => {
    const { why, message } = JSON.parse(entry.line) as { why: string; message: Record<string, unknown> };
    return { ...entry, why, message };
  });
}

function readFolder(folder: string): { subject: string; at: string; line: string }[] {
  return readdirSync(new URL(`${folder}/`, CORPUS))
    .sort()
    .flatMap((file) => {
      const lines = readFileSync(new URL(`${folder}/${file}`, CORPUS), 'utf8')
        .trimEnd()
        .split('\n');
      return lines.map((line, index) => ({
        subject: file.replace('.jsonl', ''),
        at: `corpus/${folder}/${file}:${index + 1}`,
        line,
      }));
    });
}
