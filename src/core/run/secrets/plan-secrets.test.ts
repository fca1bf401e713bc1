import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { AcorError } from '../../../protocol/acor-error.ts';
import { defaultManifest } from '../../../protocol/default-manifest.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { ResolvedArguments } from '../../registry/arguments.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { SecretStore } from '../../secrets/secret-store.ts';
import type { PlanServices } from '../plan/check-tool.ts';
import type { RunRequest } from '../run-request.ts';
import { callRedaction, planSecrets } from './plan-secrets.ts';

describe('the secrets of a run', () => {
  const root = mkdtempSync(join(tmpdir(), 'acor-plan-secrets-'));
  after(() => rmSync(root, { recursive: true, force: true }));
  const env = { HOME: root, XDG_DATA_HOME: root, XDG_CONFIG_HOME: root };
  const config = { root } as LoadedConfig;
  const toolWith = (...secrets: string[]) =>
    ({ name: 'x', manifest: { ...defaultManifest('x'), secrets } }) as unknown as ToolEntry;
  const argumentsWith = (secretInputs: { name: string; text: string }[] = []) =>
    ({ secretInputs }) as unknown as ResolvedArguments;
  const plan = (tool: ToolEntry, args = argumentsWith()) =>
    planSecrets({ config } as PlanServices, tool, args, { env } as unknown as RunRequest);
  const thrownBy = (work: () => unknown): AcorError => {
    try {
      work();
    } catch (error) {
      assert.ok(error instanceof AcorError);
      return error;
    }
    return assert.fail('it threw nothing');
  };

  it('are all named when they are not stored, each with the command that stores it', () => {
    const one = thrownBy(() => plan(toolWith('A')));
    assert.equal(one.code, 'E_ENV_MISSING');
    assert.equal(one.message, "tool 'x' needs the secret A, which is not stored");
    const two = thrownBy(() => plan(toolWith('A', 'B', 'A')));
    assert.equal(two.message, "tool 'x' needs the secrets A, B, which are not stored");
    assert.deepEqual([two.details, two.next?.length], [{ missing: ['A', 'B'] }, 2]);
  });

  it('are redacted from 8 bytes on, also in a call that is only explained', () => {
    new SecretStore(root, env).set('STORED', Buffer.from('stored-12'));
    const said = (secretInputs: { name: string; text: string }[], text: string) =>
      callRedaction(config, toolWith('STORED'), argumentsWith(secretInputs), env)!.text(text);
    assert.equal(said([], 'it is stored-12'), 'it is [redacted:STORED]');
    assert.equal(said([{ name: 'key', text: '12345678' }], 'it is 12345678'), 'it is [redacted:key]');
    assert.equal(said([{ name: 'key', text: '1234567' }], 'it is 1234567'), 'it is 1234567');
    assert.equal(callRedaction(config, toolWith(), argumentsWith(), env), null);
  });

  it('are refused as inputs that are too short to be redacted, but for an empty one', () => {
    const short = thrownBy(() => plan(toolWith(), argumentsWith([{ name: 'key', text: '1234567' }])));
    assert.equal(short.code, 'E_USAGE');
    assert.match(short.message, /'key' of tool 'x' has 7 bytes/);
    plan(toolWith(), argumentsWith([{ name: 'key', text: '' }]));
    plan(toolWith(), argumentsWith([{ name: 'key', text: '12345678' }]));
  });
});
