import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Compiler } from './compiler.ts';
import { findPlaces } from './find-places.ts';
import { ImportGraph } from './import-graph.ts';
import { nearestTests } from './nearest-tests.ts';
import { score } from './report.ts';
import { runFaults, type Tried } from './run-faults.ts';
import { shuffledFaults, withFault } from './sample.ts';
import { projectFiles } from './scratch-tree.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TSCONFIG = {
  compilerOptions: {
    target: 'ES2024',
    module: 'NodeNext',
    types: ['bun'],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  },
};

const FILES: Record<string, string> = {
  'tsconfig.json': JSON.stringify(TSCONFIG),
  '.gitignore': 'node_modules\n',
  'src/bounded.ts': `export function isSmall(size: number): boolean {
  return size < 10;
}
export function lengthOf(text: string | undefined): number {
  return (text ?? '').length;
}
export function untested(a: boolean, b: boolean): boolean {
  return a && b;
}
`,
  'src/bounded.test.ts': `import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isSmall, lengthOf } from './bounded.ts';
it('is bounded', () => {
  assert.deepEqual([isSmall(9), isSmall(10), lengthOf('abc'), lengthOf(undefined)], [true, false, 3, 0]);
});
`,
  'src/every-kind.ts': `import { closeSync, fsyncSync } from 'node:fs';
const WAIT_MS = 50;
const LIST = ['one', 'two', 'three'];
export async function every(fd: number, flag: boolean, next?: () => Promise<string>): Promise<string> {
  if (!flag) return LIST[0]!;
  if (fd === 7) closeSync(fd);
  fsyncSync(fd);
  await next?.();
  return flag || fd > WAIT_MS ? 'a' : ((await next?.()) ?? 'b');
}
`,
  // Starts the source as a program, and does not import it.
  'src/bounded.bun.test.ts': '',
  'test/apart.test.ts': `import { lengthOf } from '../src/bounded.ts';\nvoid lengthOf;\n`,
};

describe('npm run mutate', () => {
  let project: string;
  let compiler: Compiler;
  before(() => {
    project = realpathSync(mkdtempSync(join(tmpdir(), 'acor-mutate-test-')));
    for (const [file, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(project, file)), { recursive: true });
      writeFileSync(join(project, file), text);
    }
    symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
    execFileSync('git', ['init', '--quiet'], { cwd: project });
    compiler = new Compiler(project);
  });
  after(async () => {
    await compiler[Symbol.asyncDispose]();
    rmSync(project, { recursive: true, force: true });
  });

  const lineOf = ({ fault, verdict }: Tried) => `${verdict.word}: ${fault.before} → ${fault.after}`;

  it('reports what the tests catch, what survives and what does not compile, and leaves the project as it is', async () => {
    const options = { project, folder: 'src/bounded.ts', seed: 3, count: 99, jobs: 1 };
    const { tried, unusable } = await runFaults(options);
    assert.deepEqual(unusable, []);
    const reports = tried.map(lineOf);
    assert.ok(reports.includes('caught: return size < 10; → return size <= 10;'), reports.join('\n'));
    assert.ok(reports.includes('survived: return a && b; → return a || b;'), reports.join('\n'));
    const dropped = tried.find(({ fault }) => fault.operator === '?? dropped')!;
    assert.equal(dropped.verdict.word, /\(text\)/.test(dropped.fault.after) ? 'does not compile' : 'caught');
    assert.deepEqual(score(tried).survived, 1);
    for (const [file, text] of Object.entries(FILES))
      assert.equal(readFileSync(join(project, file), 'utf8'), text);
  });

  it('goes on where an earlier run stopped, and tries again only what survived', async () => {
    const resume = join(project, 'node_modules.verdicts');
    const options = { project, folder: 'src/bounded.ts', seed: 3, count: 99, jobs: 1, resume };
    const { tried } = await runFaults(options);
    const kept = readFileSync(resume, 'utf8').trimEnd().split('\n');
    const [caught] = kept.filter((line) => line.includes('"caught"'));
    // A note that no test gives shows that the verdict comes from the file.
    writeFileSync(
      resume,
      `${kept.join('\n').replace(caught!, caught!.replace(/"note":".*"/, '"note":"kept"'))}\n`,
    );
    const again = await runFaults(options);
    assert.deepEqual(again.tried.map(lineOf), tried.map(lineOf));
    assert.equal(again.tried.filter(({ verdict }) => 'note' in verdict && verdict.note === 'kept').length, 1);
    const added = readFileSync(resume, 'utf8').trimEnd().split('\n').slice(kept.length);
    assert.deepEqual(
      added.map((line) => JSON.parse(line).verdict.word),
      ['survived'],
    );
    rmSync(resume);
  });

  it('makes the same faults for the same seed, and others for another one', async () => {
    const faults = (seed: number) => shuffledFaults(['src/bounded.ts', 'src/every-kind.ts'], compiler, seed);
    assert.deepEqual(await faults(5), await faults(5));
    assert.notDeepEqual(await faults(5), await faults(6));
  });

  it('finds the places for each kind of fault', async () => {
    const text = FILES['src/every-kind.ts']!;
    const found = findPlaces(await compiler.sourceFile('src/every-kind.ts')).map(({ operator, edits }) => {
      const lines = edits.map((edit) => withFault(text, edit).split('\n'));
      const changed = lines.map((each) =>
        each.find((line, index) => line !== text.split('\n')[index])!.trim(),
      );
      return `${operator}: ${changed.join(' | ')}`;
    });
    assert.deepEqual(found, [
      "entry removed: const LIST = ['two', 'three']; | const LIST = ['one', 'three']; | const LIST = ['one', 'two'];",
      'negated condition: if (flag) return LIST[0]!;',
      'return removed: if (!flag) {}',
      'constant: if (!flag) return LIST[1]!;',
      'negated condition: if (fd !== 7) closeSync(fd);',
      'constant: if (fd === 8) closeSync(fd); | if (fd === 6) closeSync(fd);',
      'call removed: if (fd === 7) {}',
      'sync removed: {}',
      'call removed: {}',
      "negated condition: return !(flag || fd > WAIT_MS) ? 'a' : ((await next?.()) ?? 'b');",
      "and/or: return flag && fd > WAIT_MS ? 'a' : ((await next?.()) ?? 'b');",
      "bound: return flag || fd >= WAIT_MS ? 'a' : ((await next?.()) ?? 'b');",
      "?? dropped: return flag || fd > WAIT_MS ? 'a' : ((await next?.())); | return flag || fd > WAIT_MS ? 'a' : ('b');",
    ]);
  });

  it('takes the tests of the file before others that import it', () => {
    const files = projectFiles(project);
    const batches = nearestTests('src/bounded.ts', files, new ImportGraph(project, files));
    assert.deepEqual(batches, [
      { tests: ['src/bounded.bun.test.ts', 'src/bounded.test.ts'], startsProgram: false },
      { tests: ['test/apart.test.ts'], startsProgram: false },
    ]);
  });
});
