import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { saidDenials } from './said-denials.ts';

const path = (path: string, isWrite = false) => ({ kind: 'path', path, isWrite });
const network = (host: string | null, port: number | null) => ({ kind: 'network', host, port });
const command = (command: string) => ({ kind: 'command', command });

describe('what a tool says it was refused', () => {
  const cases: [line: string, expected: object][] = [
    ["FileNotFoundError: [Errno 2] No such file or directory: '/data/in.csv'", path('/data/in.csv')],
    ['cat: /data/in.csv: No such file or directory', path('/data/in.csv')],
    ["cat: '/data/a b.csv': No such file or directory", path('/data/a b.csv')],
    [`cat: '/data/it'\\''s "b".csv': No such file or directory`, path('/data/it\'s "b".csv')],
    [`cat: "/data/it's b.csv": No such file or directory`, path("/data/it's b.csv")],
    ['open /data/a b.csv for reading: permission denied', { ...path('/data/a'), rest: ' b.csv for reading' }],
    ['sh: 1: cannot create /data/x: Directory nonexistent', path('/data/x')],
    ['./cli.sh: line 3: /data/in.csv: No such file or directory', path('/data/in.csv')],
    ["Error: ENOENT: no such file or directory, open '/data/in.csv'", path('/data/in.csv')],
    ['open /data/in.csv: permission denied', path('/data/in.csv')],
    ["OSError: [Errno 30] Read-only file system: '/data/in.csv'", path('/data/in.csv', true)],
    ["touch: cannot touch '/data/x': Read-only file system", path('/data/x', true)],
    ['./cli.sh: line 2: git: command not found', command('git')],
    ['sh: 1: git: not found', command('git')],
    ['/usr/bin/sh: 1: git: Permission denied', command('git')],
    ["PermissionError: [Errno 13] Permission denied: 'git'", command('git')],
    ['Error: spawn git EACCES', command('git')],
    ['make: cc: No such file or directory', command('cc')],
    ['rsync: [sender] Failed to exec ssh: Permission denied (13)', command('ssh')],
    ['curl: (6) Could not resolve host: api.example.com', network('api.example.com', null)],
    ['Error: getaddrinfo EAI_AGAIN api.example.com', network('api.example.com', null)],
    ['Error: connect ENETUNREACH 192.0.2.1:443 - Local (0.0.0.0:0)', network('192.0.2.1', 443)],
    ['cli.sh: line 1: /dev/tcp/192.0.2.1/80: Network is unreachable', network('192.0.2.1', 80)],
    ['cli.sh: line 1: /dev/tcp/192.0.2.1/80: Operation not permitted', network('192.0.2.1', 80)],
    ['OSError: [Errno 101] Network is unreachable', network(null, null)],
    [
      "urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='api.example.com', port=8443): Temporary failure in name resolution",
      network('api.example.com', 8443),
    ],
    [
      'fetch http://api.example.com/x: dial tcp: lookup api.example.com: no such host',
      network('api.example.com', null),
    ],
    ['unshare: unshare failed: Operation not permitted', { kind: 'call', call: 'unshare' }],
  ];
  for (const [line, expected] of cases) {
    it(`is read from: ${line}`, () => {
      const found = saidDenials(`something before it\n${line}\n`, ['unshare']);
      assert.deepEqual(found, [{ said: line, ...expected }]);
    });
  }

  it('is a filter of tar and the shell that starts it', () => {
    const line = 'tar (child): gzip: Cannot exec: Permission denied';
    assert.deepEqual(saidDenials(line, []), [
      { said: line, ...command('gzip') },
      { said: line, ...command('sh') },
    ]);
  });

  it('is nothing where it says nothing of the kind', () => {
    for (const line of ['the answer is 42', 'see /data/in.csv', 'git is not here', 'ValueError: bad row', ''])
      assert.deepEqual(saidDenials(line, ['unshare']), [], line);
  });

  it('names the call of another line, for which all lines are searched once', () => {
    let looks = 0;
    const names = Array.from({ length: 300 }, (_, index) => `call${index}`);
    const calls = new Proxy(names, {
      get(target, key, receiver) {
        if (key === '299') looks++;
        return Reflect.get(target, key, receiver);
      },
    });
    const lines = Array.from({ length: 200 }, (_, index) => `${index}: Operation not permitted`);
    const [first] = saidDenials(`call299 failed\n${lines.slice(1).join('\n')}`, calls);
    assert.deepEqual(first, { said: '199: Operation not permitted', kind: 'call', call: 'call299' });
    assert.equal(looks, 1);
  });

  it('is bounded, and holds nothing that moves a cursor, however much it says', () => {
    const many = Array.from({ length: 5000 }, (_, i) => `cat: /data/${i}: No such file or directory`);
    assert.equal(saidDenials(many.join('\n'), []).length, 20);
    assert.deepEqual(saidDenials('cat: /data/\u001b[2J: No such file or directory', []), []);
    assert.deepEqual(saidDenials(`cat: /${'x'.repeat(5000)}: No such file or directory`, []), []);
  });
});
