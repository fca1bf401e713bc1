import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { runStoreContract } from '../../../test/contracts/run-store.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { FileRunStore } from './file-run-store.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-store-'));
after(() => rmSync(root, { recursive: true, force: true }));

runStoreContract('files', () => new FileRunStore(join(root, '.runs'), commandOf));
