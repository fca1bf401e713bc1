import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { librarySnippets } from '../support/library-snippets.ts';
import { ROOT, removeFolder } from '../support/project.ts';

/** What each snippet of the page prints, in their order. */
const PRINTED = [
  /^completed \{[\s\S]*requests/,
  /100[\s\S]*r-[\s\S]*customers-v2/,
  /^completed \{[\s\S]*access\.log/,
  /E_TOOL_NOT_FOUND[\s\S]*log_summary/,
  /run_id[\s\S]*state/,
  /runner_start\n[\s\S]*runner_end\ncompleted \{/,
  /^completed completed$/,
  /^\d+ completed \{/,
];

describe('the page of the library', () => {
  const snippets = librarySnippets();
  const root = mkdtempSync(join(tmpdir(), 'acor-docs-'));
  cpSync(join(ROOT, 'examples'), root, { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  after(() => removeFolder(root));

  it('has as many snippets as the test knows', () => assert.equal(snippets.length, PRINTED.length));

  for (const [index, snippet] of snippets.entries())
    it(`has snippet ${index + 1}, which does what the page says`, () => {
      const program = snippet.replaceAll(`'acor'`, JSON.stringify(join(ROOT, 'src', 'index.ts')));
      const file = join(root, `snippet-${index}.mts`);
      writeFileSync(file, program);
      const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: root, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
      assert.match(stdout.trim(), PRINTED[index]!);
    });
});
