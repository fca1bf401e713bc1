// Writes docs/first-session.md from a real session at a terminal. A test runs the same commands and compares, apart from ids and times.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordFirstSession } from '../test/support/first-session.ts';

const INTRODUCTION = `# A first session

What a person sees at a terminal, in a new folder; here without colours and the moving footer. An agent sees [a real run](transcript.md).
Written by \`scripts/write-first-session.ts\`; a test runs the same commands and compares.

`;

const page = join(import.meta.dirname, '..', 'docs', 'first-session.md');
writeFileSync(page, INTRODUCTION + (await recordFirstSession()));
