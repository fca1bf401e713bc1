import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { PreparedAnswer } from '../../ports/run-launcher.ts';
import { keepGivenAnswers, keptAnswers } from './given-answers.ts';

const SECRET = 'hunter2-hunter2';

describe('answers that were given in advance', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-given-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const answer = (action: string, value: unknown): PreparedAnswer => ({
    action,
    answer: value,
    by: 'caller',
    source: 'beforehand',
  });
  const secrets = { redaction: { spansIn: (bytes: Buffer) => (bytes.includes(SECRET) ? [1] : []) } };
  const given = [answer('speed', 'slow'), answer('key', { of: SECRET })];
  const keeping = (more: object) =>
    ({
      workspace: { givenAnswers: join(folder, 'given.json') },
      secrets: null,
      callsWithSecrets: false,
      ...more,
    }) as never;
  const keep = (more: object, answers: readonly PreparedAnswer[]): PreparedAnswer[] => {
    keepGivenAnswers(keeping(more), answers);
    return keptAnswers({ givenAnswers: join(folder, 'given.json') } as never);
  };

  it('are kept for their user alone, but for those that contain a secret of the run', () => {
    assert.deepEqual(keep({}, given), given, 'the control');
    assert.equal(statSync(join(folder, 'given.json')).mode & 0o777, 0o600);
    assert.deepEqual(keep({ secrets }, given), given.slice(0, 1));
  });

  it('are not kept by a workflow whose tools get secrets, and are removed when there are none', () => {
    assert.deepEqual(keep({}, given), given, 'the control');
    assert.deepEqual(keep({ callsWithSecrets: true }, given), []);
    assert.equal(existsSync(join(folder, 'given.json')), false);
  });
});
