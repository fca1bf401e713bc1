import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EgressJournal, type EgressNote } from './connection-log.ts';
import { planEgress } from './egress-plan.ts';
import { layOut } from './layout.ts';

const CLOSED = { allow_private_egress: [], egress_hosts: {} };

describe('what a tool asks of the network', () => {
  it('is refused with all entries that cannot be opened', () => {
    assert.throws(() => planEgress('t', ['a.test:443', 'a*.test:443', '127.1:80', 'b.test:0'], CLOSED), {
      code: 'E_MANIFEST_INVALID',
      message: /a\*\.test:443, 127\.1:80, b\.test:0$/,
    });
    assert.throws(() => planEgress('t', [], { ...CLOSED, allow_private_egress: ['nothing'] }), {
      code: 'E_CONFIG_INVALID',
    });
    for (const hosts of [{ 'a.test': 'b.test' }, { '10.0.0.1': '10.0.0.1' }])
      assert.throws(() => planEgress('t', [], { ...CLOSED, egress_hosts: hosts as Record<string, string> }), {
        code: 'E_CONFIG_INVALID',
      });
    const many = Array.from({ length: 201 }, (_, n) => `h${n}.test:443`);
    assert.throws(() => planEgress('t', many, CLOSED), { code: 'E_MANIFEST_INVALID' });
  });

  it('is refused before anything starts where it names an address that is not public, with the line that opens it', () => {
    const asked = ['169.254.169.254:80', '[::1]:5432', '8.8.8.8:53'];
    assert.throws(() => planEgress('t', asked, CLOSED), {
      code: 'E_POLICY_DENIED',
      hint: /allow_private_egress: - '169\.254\.169\.254:80' - '\[::1\]:5432'$/,
    });
    planEgress('t', asked, { ...CLOSED, allow_private_egress: ['169.254.169.254:80', '[::1]:*'] });
  });

  it('is laid out with an address for each name, and a listener for each port', () => {
    const { listeners, hostsFile, addresses, aliases } = layOut(
      planEgress(
        't',
        ['a.test:443', 'A.test:443', 'a.test:80', 'b.test:443', '8.8.8.8:53', '*.c.test:443'],
        CLOSED,
      ),
    );
    assert.deepEqual(
      listeners.map(({ address, port, serves }) => [
        address,
        port,
        typeof serves === 'string' ? serves : 'host',
      ]),
      [
        ['127.1.0.1', 443, 'host'],
        ['127.1.0.1', 80, 'host'],
        ['127.1.0.2', 443, 'host'],
        ['8.8.8.8', 53, 'host'],
        ['127.0.0.1', 3128, 'proxy'],
        ['127.1.255.53', 53, 'names'],
      ],
    );
    assert.equal(
      hostsFile,
      '127.0.0.1 localhost sandbox\n::1 localhost\n127.1.0.1 a.test\n127.1.0.2 b.test\n',
    );
    assert.deepEqual([addresses, aliases.get('b.test')], [['8.8.8.8'], '127.1.0.2']);
  });

  it('keeps clear of the addresses and ports that it names itself', () => {
    const opened = ['127.1.0.1:80', '127.0.0.1:3128'];
    const { listeners, env } = layOut(
      planEgress('t', [...opened, 'a.test:80'], { ...CLOSED, allow_private_egress: opened }),
    );
    assert.deepEqual(
      listeners.map(({ address, port }) => `${address}:${port}`),
      ['127.1.0.1:80', '127.0.0.1:3128', '127.1.0.2:80', '127.0.0.1:3129', '127.1.255.53:53'],
    );
    assert.equal(env['HTTPS_PROXY'], 'http://127.0.0.1:3129');
  });

  it('sends named hosts directly, except where the proxy serves names that look like them', () => {
    const direct = (...asked: string[]) => layOut(planEgress('t', asked, CLOSED)).env['NO_PROXY'];
    assert.equal(
      direct('a.test:443', 'x.b.test:443', '*.b.test:443'),
      'localhost,127.0.0.1,::1,a.test,x.b.test',
    );
    assert.equal(direct('a.test:443', 'b.test:443', '*.b.test:443'), 'localhost,127.0.0.1,::1,a.test');
    assert.equal(direct('b.test:443', '*.a.b.test:443', 'c.test:80', 'c.test:*'), 'localhost,127.0.0.1,::1');
    assert.equal(direct('a.test:443', '*:443'), 'localhost,127.0.0.1,::1');
  });
});

describe('the journal of a run’s connections', () => {
  it('reports each kind once, counts the rest, and reports the sums', () => {
    const notes: EgressNote[] = [];
    const journal = new EgressJournal((note) => notes.push(note));
    for (let n = 0; n < 1000; n++) {
      journal.allowed('a.test', 443, '8.8.8.8').sent_bytes += 10;
      journal.denied({ host: `h${n}.test`, port: null, why: 'no' });
      journal.failed('b.test', 443, n % 2 ? 'ECONNREFUSED' : 'ETIMEDOUT');
    }
    journal.close();
    assert.equal(notes.length, 101, 'a hundred kinds and the sums');
    const total = notes.at(-1)!;
    assert.equal(total.msg, 'network: 1000 connected, 1000 refused, 1000 failed');
    assert.ok(total.kind === 'total' && total.egress.length === 100);
    assert.deepEqual(total.egress[0], {
      ...{ verdict: 'allowed', host: 'a.test', port: 443, address: '8.8.8.8' },
      ...{ count: 1000, sent_bytes: 10_000, received_bytes: 0 },
    });
  });

  it('reports nothing for a run without connections', () => {
    const notes: EgressNote[] = [];
    new EgressJournal((note) => notes.push(note)).close();
    assert.deepEqual(notes, []);
  });
});
