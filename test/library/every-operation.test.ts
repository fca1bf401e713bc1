import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as z from 'zod';
import type { OperationTypes } from '../../src/client/index.ts';
import { Acor, type AcorError } from '../../src/index.ts';
import {
  CALLABLE,
  FAILING,
  inputsOf,
  projectForEveryOperation,
  type Runs,
  startRuns,
} from '../support/every-operation.ts';
import type { TestProject } from '../support/project.ts';

describe('the library', () => {
  let project: TestProject;
  let acor: Acor;
  let runs: Runs;
  before(async () => {
    project = projectForEveryOperation();
    acor = new Acor({ cwd: project.root, env: project.environment() });
    runs = await startRuns(project);
  });
  after(async () => {
    await acor.call('run.wait', { run: runs.asking });
    project[Symbol.dispose]();
  });

  for (const { operation, load } of CALLABLE)
    it(`calls ${operation}, and gets what the operation declares`, async () => {
      const name = operation as keyof OperationTypes;
      const { output } = await load();
      const called = acor.call(name, inputsOf(runs)[name]() as never);
      const code = FAILING[operation];
      if (code !== undefined) {
        await assert.rejects(called, (error: AcorError) => error.code === code);
        return;
      }
      const { data } = await called;
      const { error } = z.safeParse(output, data);
      assert.ok(error === undefined, `${JSON.stringify(data).slice(0, 2000)} ${error?.message}`);
    });
});
