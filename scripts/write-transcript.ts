// Writes docs/transcript.md from a real run. A test runs the same commands and compares, apart from ids and times.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordTranscript } from '../test/support/transcript.ts';

const INTRODUCTION = `# A real run

What an agent sees: stdout is no terminal, so answers are one JSON envelope and a run streams its events as JSON lines.
Written by \`scripts/write-transcript.ts\`; a test runs the same commands and holds this page to what they print.

`;

writeFileSync(join(import.meta.dirname, '..', 'docs', 'transcript.md'), INTRODUCTION + recordTranscript());
