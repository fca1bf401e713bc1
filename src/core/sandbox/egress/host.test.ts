import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Reach, reachOf } from './address.ts';
import { covers, nameOf, readHost, readHostAndPort, readRule } from './host.ts';

describe('a host', () => {
  it('is read in one form, however it is written', () => {
    for (const [text, canonical] of [
      ['API.Example.COM', 'api.example.com'],
      ['bücher.example', 'xn--bcher-kva.example'],
      ['BÜCHER.example', 'xn--bcher-kva.example'],
      ['_sip.example.com', '_sip.example.com'],
      ['192.0.2.7', '192.0.2.7'],
      ['[2001:DB8:0:0::7]', '2001:db8::7'],
      ['[::ffff:127.0.0.1]', '127.0.0.1'],
      ['[::ffff:7f00:1]', '127.0.0.1'],
      ['[64:ff9b::7f00:1]', '127.0.0.1'],
      ['[::1]', '::1'],
    ] as const) {
      const host = readHost(text);
      assert.equal(host && nameOf(host), canonical, text);
    }
  });

  it('is none when two programs could read it in two ways', () => {
    for (const text of [
      ...[
        '',
        '.',
        'example.com.',
        '.example.com',
        'a..b',
        'exam ple.com',
        'a\0.example.com',
        'a%00.example.com',
      ],
      ...['user@example.com', 'example.com/path', 'example.com#x', 'example.com?x', 'a\\b', '*.example.com'],
      ...[
        '2130706433',
        '0x7f000001',
        '0x7f.1',
        '0177.0.0.1',
        '127.1',
        '127.0.0.01',
        '256.0.0.1',
        '1.2.3.4.5',
      ],
      ...[
        'example.0x7f',
        'example.123',
        '１２７.0.0.1',
        '127。0。0。1',
        '[127.0.0.1]',
        '::1',
        '[::1',
        '[fe80::1%eth0]',
      ],
      ...['-a.example.com', 'a-.example.com', `${'a'.repeat(64)}.com`, `${'a.'.repeat(127)}com`, 'a​b.com'],
    ]) {
      assert.equal(readHost(text), undefined, JSON.stringify(text));
    }
  });

  it('has a port in decimal', () => {
    assert.deepEqual(readHostAndPort('[::1]:65535'), {
      host: { kind: 'address', address: '::1' },
      port: 65_535,
    });
    for (const port of ['', '0', '65536', '0443', '+443', '443 ', '4e2', '99999999999'])
      assert.equal(readHostAndPort(`example.com:${port}`), undefined, port);
  });
});

describe('an address', () => {
  it('is classified by its network', () => {
    const known: Record<Reach, string[]> = {
      public: ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2600::1', '64:ff9b::808:808'],
      loopback: ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'],
      private: [
        '10.0.0.1',
        '172.16.0.1',
        '172.31.255.255',
        '192.168.1.1',
        '100.64.0.1',
        'fd00::1',
        '::ffff:10.0.0.1',
      ],
      'link-local': ['169.254.1.1', 'fe80::1', 'febf::1'],
      metadata: [
        '169.254.169.254',
        '168.63.129.16',
        '100.100.100.200',
        'fd00:ec2::254',
        '::ffff:169.254.169.254',
      ],
      multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
      reserved: [
        '0.0.0.0',
        '255.255.255.255',
        '192.0.2.1',
        '198.18.0.1',
        '::',
        '2002:7f00:1::',
        '2001::1',
        '2001:db8::1',
      ],
      own: [],
    };
    for (const [reach, addresses] of Object.entries(known))
      for (const address of addresses) assert.equal(reachOf(address), reach, address);
  });

  it('is classified up to both ends of each network', () => {
    const ranges: [Reach, first: string, last: string, ...outside: string[]][] = [
      ['reserved', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
      ['private', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
      ['private', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
      ['loopback', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
      ['link-local', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
      ['private', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
      ['reserved', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
      ['reserved', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
      ['reserved', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
      ['private', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
      ['reserved', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
      ['reserved', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
      ['reserved', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
      ['multicast', '224.0.0.0', '239.255.255.255', '223.255.255.255'],
      ['reserved', '240.0.0.0', '255.255.255.255'],
      ['private', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
      ['reserved', '2001::', '2001:1ff:ffff::', '2000:ffff::', '2001:200::'],
      ['reserved', '2001:db8::', '2001:db8:ffff::', '2001:db7:ffff::', '2001:db9::'],
      ['reserved', '2002::', '2002:ffff::', '2001:ffff::', '2003::'],
      ['reserved', '3fff::', '3fff:fff::', '3ffe:ffff::', '3fff:1000::'],
      ['private', 'fc00::', 'fdff:ffff::'],
      ['link-local', 'fe80::', 'febf:ffff::'],
      ['private', 'fec0::', 'feff:ffff::'],
      ['multicast', 'ff00::', 'ffff:ffff::'],
      ['reserved', '4000::', 'fbff:ffff::'],
      ['reserved', '100::', '1fff:ffff::', '2000::'],
    ];
    for (const [reach, first, last, ...outside] of ranges) {
      for (const address of [first, last]) assert.equal(reachOf(address), reach, address);
      for (const address of outside) assert.equal(reachOf(address), 'public', address);
    }
    const metadata = ['169.254.170.2', '192.0.0.192', 'fd20:ce::254'];
    for (const address of metadata) assert.equal(reachOf(address), 'metadata', address);
  });

  it('of this machine is no public one', () => {
    assert.equal(reachOf('8.8.8.8', ['2600::1', '8.8.8.8']), 'own');
    assert.equal(reachOf('2600:0::1', ['2600::1']), 'own');
    assert.equal(reachOf('8.8.8.9', ['8.8.8.8']), 'public');
  });
});

describe('a rule', () => {
  const allows = (rule: string, target: string) => {
    const { host, port } = readHostAndPort(target)!;
    return covers(readRule(rule)!, host, port);
  };

  it('covers what it names, and nothing that only looks like it', () => {
    for (const [rule, target] of [
      ['API.example.com:443', 'api.EXAMPLE.com:443'],
      ['*.example.com:443', 'a.b.example.com:443'],
      ['api.example.com:*', 'api.example.com:8443'],
      ['*:443', '192.0.2.1:443'],
      ['*', 'anything.example:1'],
      ['[2001:db8::1]:443', '[2001:DB8:0::1]:443'],
      ['bücher.example:443', 'xn--bcher-kva.example:443'],
    ] as const)
      assert.equal(allows(rule, target), true, `${rule} ${target}`);
    for (const [rule, target] of [
      ['api.example.com:443', 'api.example.com:80'],
      ['api.example.com:443', 'www.api.example.com:443'],
      ['*.example.com:443', 'example.com:443'],
      ['*.example.com:443', 'badexample.com:443'],
      ['*.example.com:443', 'example.com.evil.test:443'],
      ['*:443', 'example.com:80'],
      ['192.0.2.1:443', '[2001:db8::1]:443'],
    ] as const)
      assert.equal(allows(rule, target), false, `${rule} ${target}`);
  });

  it('is none when it could be read in two ways', () => {
    for (const text of [
      ...[
        '',
        'example.com',
        ':443',
        'a*.example.com:443',
        '*.*:443',
        'a.*.com:443',
        '*.192.0.2.1:443',
        '**:443',
      ],
      ...[
        'example.com:0',
        'example.com:65536',
        'example.com.:443',
        '127.1:80',
        '2001:db8::1:443',
        'user@a.com:443',
      ],
    ])
      assert.equal(readRule(text), undefined, text);
  });
});
