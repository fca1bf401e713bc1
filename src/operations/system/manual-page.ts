import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { ownFile } from '../../core/registry/own-files.ts';
import { acorOperation } from '../define.ts';

export const manualPage = acorOperation({
  name: 'system.man',
  summary: 'Print the manual page (roff), for an installation without one.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: z.object({ page: z.string() }),
  example: 'acor man',
  moreExamples: ['acor man | man -l -', 'acor man >~/.local/share/man/man1/acor.1'],
  async run() {
    const page = readFileSync(ownFile('man', 'acor.1'), 'utf8');
    return { kind: 'document', data: { page }, document: page };
  },
});
