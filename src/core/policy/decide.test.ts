import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configDefaults } from '../../protocol/config-defaults.ts';
import { defaultManifest } from '../../protocol/default-manifest.ts';
import type { Manifest } from '../../protocol/manifest.ts';
import type { PolicyFile, PolicyRules } from '../../protocol/policy-file.ts';
import { decide } from './decide.ts';
import type { Asked } from './decision.ts';
import { withinCeilings } from './limits.ts';
import { type PolicyLayer, placeIn } from './policy-layer.ts';

const BUILT_IN = { allowsWildcardHosts: false, by: 'built-in rule' };

describe('the policy without any file', () => {
  it('allows hosts that are named', () => {
    const asked = asking({ hosts: ['api.example.com:443', '[::1]:80'] });
    assert.deepEqual(decide(asked, [], BUILT_IN), { allowed: true, violations: [] });
  });

  it('refuses every wildcard, with the place, the rule and the fix', () => {
    const asked = asking({
      hosts: ['ok.example.com:443', '*', '*:443', '*.example.com:443', 'a.example.com:*'],
      commands: ['git', '*'],
    });
    const { allowed, violations } = decide(asked, [], BUILT_IN);
    assert.equal(allowed, false);
    assert.deepEqual(
      violations.map(({ path, asked: what, by }) => [path, what, by]),
      [
        ['permissions.network.egress_allow[1]', '*', 'built-in rule'],
        ['permissions.network.egress_allow[2]', '*:443', 'built-in rule'],
        ['permissions.network.egress_allow[3]', '*.example.com:443', 'built-in rule'],
        ['permissions.network.egress_allow[4]', 'a.example.com:*', 'built-in rule'],
        ['permissions.commands[1]', '*', 'built-in rule'],
      ],
    );
    assert.match(violations[0]!.rule, /wildcard egress/);
    assert.match(
      violations[0]!.fix,
      /under permissions\.network\.egress_allow, write: - api\.example\.com:443/,
    );
  });

  it('allows wildcard hosts where the configuration opens the network', () => {
    const open = { ...BUILT_IN, allowsWildcardHosts: true };
    assert.equal(decide(asking({ hosts: ['*'] }), [], open).allowed, true);
  });
});

describe('a policy file', () => {
  it('may name a wildcard, which is then allowed, and covers what is narrower', () => {
    const layers = [layer('user', { network: { egress_allow: ['*.example.com:443', 'b.org:*'] } })];
    const ok = ['*.example.com:443', 'A.example.com:443', '*.a.example.com:443', 'b.org:*', 'b.org:1'];
    assert.deepEqual(decide(asking({ hosts: ok }), layers, BUILT_IN).violations, []);
    const not = ['example.com:443', 'a.example.com:80', 'xexample.com:443', 'a.b.org:1', '*', '*:443'];
    const { violations } = decide(asking({ hosts: not }), layers, BUILT_IN);
    const refused = violations.filter(({ by }) => by !== 'built-in rule').map(({ asked }) => asked);
    assert.deepEqual(refused, not);
  });

  it('does not take the end of an address for a subdomain', () => {
    const layers = [layer('user', { network: { egress_allow: ['*.2.3.4:80'] } })];
    assert.equal(decide(asking({ hosts: ['1.2.3.4:80'] }), layers, BUILT_IN).allowed, false);
  });

  // Each row: what is asked, the rule that refuses it, and a rule that allows it.
  const dimensions: [string, Partial<Ask>, PolicyRules, PolicyRules][] = [
    ['a level', { level: 'standard' }, { max_level: 'minimal' }, { max_level: 'standard' }],
    [
      'a path that is read',
      { read: ['/srv/x/**'] },
      { filesystem: { read: ['/data'] } },
      { filesystem: { read: ['/srv'] } },
    ],
    [
      'a path that is written',
      { write: ['/srv/x'] },
      { filesystem: { write: [] } },
      { filesystem: { write: ['/srv/x/**'] } },
    ],
    [
      'a host',
      { hosts: ['a.org:1'] },
      { network: { egress_allow: ['a.org:2'] } },
      { network: { egress_allow: ['a.org:1'] } },
    ],
    ['a command', { commands: ['/tmp/git'] }, { commands: ['git'] }, { commands: ['*'] }],
    ['a secret', { secrets: ['KEY'] }, { secrets: [] }, { secrets: ['KEY'] }],
    ['a time limit', { timeout_s: 61 }, { limits: { timeout_s: 60 } }, { limits: { timeout_s: 61 } }],
    [
      'a deadline of the caller',
      { deadline: 61 },
      { limits: { timeout_s: 60 } },
      { limits: { timeout_s: 90 } },
    ],
    ['memory', { memory_mb: 2 }, { limits: { memory_mb: 1 } }, { limits: { memory_mb: 2 } }],
    [
      'output',
      { max_output_size: 2 },
      { limits: { max_output_size: 1 } },
      { limits: { max_output_size: 2 } },
    ],
    ['a weak sandbox', { tier: 3 }, { require_isolation: 1 }, { require_isolation: 3 }],
    [
      'an argument',
      { grants: ['/srv/in'] },
      { filesystem: { read: ['/data'] } },
      { filesystem: { read: ['/srv'] } },
    ],
    ['another manifest', {}, { manifest_sha256: 'b'.repeat(64) }, { manifest_sha256: 'a'.repeat(64) }],
  ];
  for (const [what, ask, refusing, allowing] of dimensions) {
    it(`refuses ${what} that goes beyond it, for all tools and for one, and allows what does not`, () => {
      const pinned = refusing.manifest_sha256 !== undefined;
      for (const wrap of [forAll, forTool]) {
        if (pinned && wrap !== forTool) continue;
        const { violations } = decide(asking(ask), [layer('user', wrap(refusing))], BUILT_IN);
        assert.equal(violations.length, 1, JSON.stringify(violations));
        assert.match(violations[0]!.by, /^\/user\.yaml:\d+:\d+$/);
        assert.notEqual(violations[0]!.fix, '');
        assert.deepEqual(decide(asking(ask), [layer('user', wrap(allowing))], BUILT_IN).violations, []);
      }
      const elsewhere = { tools: { another: refusing } };
      assert.equal(decide(asking(ask), [layer('user', elsewhere)], BUILT_IN).allowed, true);
    });
  }

  it('cannot widen another one, whichever of them is wider', () => {
    const narrow = { network: { egress_allow: ['a.org:1'] } };
    const wide = { network: { egress_allow: ['*'] }, tools: { t: { network: { egress_allow: ['*'] } } } };
    for (const [system, project] of [
      [narrow, wide],
      [wide, narrow],
    ] as const) {
      const layers = [layer('system', system), layer('project', project)];
      assert.equal(decide(asking({ hosts: ['a.org:1'] }), layers, BUILT_IN).allowed, true);
      assert.equal(decide(asking({ hosts: ['b.org:1'] }), layers, BUILT_IN).allowed, false);
    }
  });

  it('has every violation listed, of every layer, each with its line', () => {
    const asked = asking({ hosts: ['a.org:1', 'b.org:1'], commands: ['curl'], memory_mb: 9, timeout_s: 9 });
    const rules = { network: { egress_allow: [] }, commands: [], limits: { memory_mb: 1, timeout_s: 1 } };
    const { violations } = decide(asked, [layer('system', rules), layer('user', rules)], BUILT_IN);
    assert.deepEqual(
      violations.map(({ path, by }) => `${path} ${by.split(':')[0]}`),
      ['/system.yaml', '/user.yaml'].flatMap((file) =>
        [
          'permissions.network.egress_allow[0]',
          'permissions.network.egress_allow[1]',
          'permissions.commands[0]',
          'timeout_s',
          'resources.memory_mb',
        ].map((path) => `${path} ${file}`),
      ),
    );
  });

  it('that lists anything is not passed by a privileged tool, which is held to no list', () => {
    const asked = asking({ level: 'privileged' });
    const listed = {
      network: { egress_allow: ['a.org:1'] },
      filesystem: { read: ['/srv'] },
      commands: ['git'],
    };
    const refused = decide(asked, [layer('user', listed)], BUILT_IN).violations.map(({ by, path }) => [
      path,
      by,
    ]);
    assert.equal(refused.length, 3);
    assert.ok(refused.every(([path]) => path === 'permissions.level'));
    const all = {
      network: { egress_allow: ['*'] },
      filesystem: { read: ['/'], write: ['/**'] },
      commands: ['*'],
    };
    assert.equal(decide(asked, [layer('user', all)], BUILT_IN).allowed, true);
  });

  it('follows links and .. before it compares a path, and leaves the workspace to the tool', () => {
    const rules = { filesystem: { read: ['/srv', '${PROJECT}/data', '~/x', '${TOOL_DIR}'], write: [] } };
    const readable = (path: string) =>
      decide(
        asking({ read: [path], links: { '/srv/out': '/etc', '/home/u/x': '/mnt/x' } }),
        [layer('user', rules)],
        BUILT_IN,
      ).allowed;
    const yes = [
      '/srv',
      '/srv/a/*.csv',
      '/srv/a/../b',
      '${PROJECT}/data/**',
      'data/x',
      '~/x/y',
      '${TOOL_DIR}/z',
    ];
    const workspace = ['.', './a', '${WORKSPACE}/a/**', '$WORKSPACE'];
    for (const path of [...yes, ...workspace]) assert.equal(readable(path), true, path);
    const no = [
      '/srvx',
      '/srv/../etc',
      '/srv/out/passwd',
      '${PROJECT}',
      '${PROJECT}/data/../x',
      './../../..',
      '/',
      '**',
      '/s*',
    ];
    for (const path of no) assert.equal(readable(path), false, path);
  });
});

describe('the ceilings of a policy', () => {
  it('cut what a manifest leaves open, and leave what is lower', () => {
    const security = { ...configDefaults().security, resource_limits: { memory_mb: 64 } };
    const config = { ...configDefaults(), security };
    const rules = [
      { limits: { timeout_s: 60, memory_mb: 100, processes: 8 } },
      { limits: { timeout_s: 90, processes: 4 } },
    ];
    const manifest = { ...defaultManifest('t'), resources: { processes: 2 } };
    const cut = withinCeilings(manifest, rules, config);
    assert.deepEqual(
      [cut.timeout_s, cut.max_output_size, cut.resources],
      [60, undefined, { memory_mb: 64, processes: 2 }],
    );
    assert.deepEqual(withinCeilings(manifest, [{}], config), manifest);
  });
});

interface Ask {
  level: Manifest['permissions']['level'];
  read: string[];
  write: string[];
  hosts: string[];
  commands: string[];
  secrets: string[];
  timeout_s: number;
  max_output_size: number;
  memory_mb: number;
  deadline: number;
  tier: number;
  grants: string[];
  links: Record<string, string>;
}

function asking(ask: Partial<Ask>): Asked {
  const manifest: Manifest = {
    ...defaultManifest('t'),
    permissions: {
      level: ask.level ?? 'minimal',
      filesystem: { read: ask.read ?? [], write: ask.write ?? [] },
      network: { egress_allow: ask.hosts ?? [] },
      commands: ask.commands ?? [],
    },
    secrets: ask.secrets ?? [],
    resources: ask.memory_mb === undefined ? {} : { memory_mb: ask.memory_mb },
    ...(ask.timeout_s !== undefined && { timeout_s: ask.timeout_s }),
    ...(ask.max_output_size !== undefined && { max_output_size: ask.max_output_size }),
  };
  const links = Object.entries(ask.links ?? {});
  const realPath = (path: string) => {
    const link = links.find(([from]) => path === from || path.startsWith(`${from}/`));
    return link === undefined ? path : link[1] + path.slice(link[0].length);
  };
  return {
    tool: 't',
    manifest,
    manifestSha256: 'a'.repeat(64),
    timeoutS: ask.deadline,
    grants: (ask.grants ?? []).map((path) => ({ path, access: 'read' as const, input: 'in' })),
    tier: ask.tier ?? null,
    places: { project: '/p', workspace: '/p/.runs/r/work', toolDir: '/p/tools/t', home: '/home/u', realPath },
  };
}

function forAll(rules: PolicyRules): PolicyFile {
  return { version: 1, ...rules } as PolicyFile;
}

function forTool(rules: PolicyRules): PolicyFile {
  return { version: 1, tools: { t: rules } };
}

/** A file in which each key stands on a line of its own. */
function layer(source: PolicyLayer['source'], policy: Partial<PolicyFile>): PolicyLayer {
  const places: Record<string, string> = {};
  const walk = (value: unknown, name: string): void => {
    if (name !== '') places[name] = `${Object.keys(places).length + 1}:3`;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [key, each] of Object.entries(value)) walk(each, name === '' ? key : `${name}.${key}`);
  };
  walk(policy, '');
  const made = { source, file: `/${source}.yaml`, policy: { version: 1 as const, ...policy }, places };
  assert.equal(placeIn(made, 'no.such.key'), `/${source}.yaml:1:1`);
  return made;
}
