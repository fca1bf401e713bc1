import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { manifestFile } from '../../protocol/manifest.ts';
import { type Denial, explainDenial, listEntry, remedySentence } from './explain-denial.ts';

describe('what was denied', () => {
  const cases: [Denial, path: string, line: string][] = [
    [{ kind: 'read', path: '/srv/in.csv' }, 'permissions.filesystem.read', '- /srv/in.csv'],
    [
      { kind: 'read', path: '/p/data', isFolder: true },
      'permissions.filesystem.read',
      '- "${PROJECT}/data/**"',
    ],
    [{ kind: 'read', path: '/p x', isFolder: false }, 'permissions.filesystem.read', '- "/p x"'],
    [{ kind: 'write', path: '/srv/out/a.json' }, 'permissions.filesystem.write', '- "/srv/out/**"'],
    [
      { kind: 'write', path: '/p/out', isFolder: true },
      'permissions.filesystem.write',
      '- "${PROJECT}/out/**"',
    ],
    [{ kind: 'write', path: '/file' }, 'permissions.filesystem.write', '- "/**"'],
    [
      { kind: 'host', host: 'api.example.com', port: 443 },
      'permissions.network.egress_allow',
      '- api.example.com:443',
    ],
    [{ kind: 'host', host: '::1', port: 80 }, 'permissions.network.egress_allow', '- "[::1]:80"'],
    [{ kind: 'host', host: '10.0.0.1', port: 80 }, 'permissions.network.egress_allow', '- "10.0.0.1:80"'],
    [{ kind: 'command', command: '/usr/bin/git' }, 'permissions.commands', '- git'],
    [{ kind: 'command', command: 'yes' }, 'permissions.commands', '- "yes"'],
  ];
  for (const [denial, path, line] of cases) {
    it(`is allowed by the line that is given for it: ${JSON.stringify(denial)}`, () => {
      const remedy = explainDenial(denial, '/p');
      assert.deepEqual([remedy.path, remedy.line], [path, line]);
      assert.equal(remedySentence(remedy), `In tool.yaml, under ${path}, write: ${line}`);
      const keys = path.split('.');
      const yaml = `${keys.map((key, depth) => `${'  '.repeat(depth)}${key}:\n`).join('')}${'  '.repeat(keys.length)}${line}\n`;
      assert.equal(manifestFile.safeParse(parse(yaml)).success, true, yaml);
    });
  }

  it('comes back as it was from a list entry, whatever YAML makes of it', () => {
    for (const text of [
      'a',
      '*',
      '- x',
      'null',
      'true',
      '1',
      '0x10',
      'a: b',
      'a:',
      '#x',
      '"',
      "'",
      'a\nb',
      '~',
      '&a',
      '!x',
      '{}',
    ])
      assert.deepEqual(parse(listEntry(text)), [text]);
  });
});
