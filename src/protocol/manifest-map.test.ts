import assert from 'node:assert/strict';
import { it } from 'node:test';
import { manifestFile } from './manifest.ts';

/** The places and rules of what is wrong. */
function mistakes(manifest: object): string[] {
  const { error } = manifestFile.safeParse(manifest);
  return (error?.issues ?? []).map((issue) => {
    const { params } = issue as { params?: { rule: string } };
    return `${issue.path.join('.')} ${params?.rule ?? issue.code}`;
  });
}

it('the rules of a map are checked when the manifest is read, each mistake at its place', () => {
  const adapter = 'jsonl-map';
  const good = {
    when: { kind: 'x', '$.a.b': 1, c: null, d: true },
    to: 'log',
    fields: { msg: '$', level: 'warn' },
  };
  assert.deepEqual(
    mistakes({ adapter, map: [good, { to: 'result', fields: { data: { n: ['$.x', 1] } } }] }),
    [],
  );
  for (const [map, expected] of [
    [[], 'map too_small'],
    [[{ to: 'nowhere' }], 'map.0.to invalid_value'],
    [[{ to: 'log' }], 'map.0 map-field'],
    [[good, { to: 'error' }], 'map.1 map-field'],
    [[{ to: 'artifact', fields: { change: 'created' } }], 'map.0 map-field'],
    [[{ to: 'log', fields: { msg: '$.a', level: 'loud' } }], 'map.0.fields.level map-field'],
    [[{ to: 'progress', fields: { pct: '$.a *' } }], 'map.0.fields.pct map-path'],
    [[{ to: 'result', fields: { data: { n: ['$.x', '$x'] } } }], 'map.0.fields.data.n.1 map-path'],
    [[{ to: 'progress', fields: { type: 'result' } }], 'map.0.fields.type map-field'],
    [[{ when: { '$.': 1 }, to: 'heartbeat' }], 'map.0.when.$. map-path'],
    [[{ when: { a: [1] }, to: 'heartbeat' }], 'map.0.when.a invalid_union'],
  ] as const)
    assert.deepEqual(mistakes({ adapter, map }), [expected], JSON.stringify(map));
  assert.deepEqual(mistakes({ adapter }), ['adapter adapter-needs-map']);
  assert.deepEqual(mistakes({ map: [good] }), ['map map-needs-adapter']);
});
