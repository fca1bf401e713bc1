import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planEgress } from '../egress-plan.ts';
import { chooseRule } from './request-rules.ts';

/** Whether rules allow a request; the reason when they do not. */
function asked(
  rules: readonly { methods?: string[]; paths?: string[] }[],
  method: string,
  target: string,
  fields: readonly (readonly [string, string])[] = [],
): string {
  const requests = rules.map((rule) => ({ host: 'api.test:443', ...rule }));
  const plan = planEgress(
    't',
    ['api.test:443'],
    { allow_private_egress: [], egress_hosts: {} },
    { requests },
  );
  const used = plan.requests.map((rule) => ({ rule, sentBytes: 0 }));
  const chosen = chooseRule(used, { method, target, fields });
  return 'why' in chosen ? chosen.why : 'allowed';
}

describe('the rules of a host', () => {
  it('allow the methods and paths that one of them names, and no other', () => {
    const rules = [
      { methods: ['GET', 'HEAD'], paths: ['/v1/items', '/v1/items/*', '/files/**'] },
      { methods: ['POST'], paths: ['/v1/items'] },
    ];
    for (const [method, target] of [
      ['GET', '/v1/items'],
      ['GET', '/v1/items?page=2&next=/../x'],
      ['HEAD', '/v1/items/7'],
      ['GET', '/v1/%69tems/%37'],
      ['GET', '/files'],
      ['GET', '/files/'],
      ['GET', '/files/a/b.c'],
      ['POST', '/v1/items'],
    ] as const)
      assert.equal(asked(rules, method, target), 'allowed', `${method} ${target}`);
    for (const [method, target] of [
      ['DELETE', '/v1/items'],
      ['get', '/v1/items'],
      ['POST', '/v1/items/7'],
      ['GET', '/v1/items/'],
      ['GET', '/v1/items/7/8'],
      ['GET', '/v1/ITEMS'],
      ['GET', '/v1/items2'],
      ['GET', '/filesystem'],
      ['GET', '/'],
      ['OPTIONS', '*'],
    ] as const)
      assert.match(
        asked(rules, method, target),
        /^permissions\.network\.egress_allow of tool\.yaml allows GET, HEAD on /,
      );
    assert.equal(asked([], 'DELETE', '/anything'), 'allowed');
    assert.equal(asked([{ methods: ['GET'] }], 'GET', '/any/where'), 'allowed');
  });

  it('refuse a path that servers read in different ways', () => {
    const rules = [{ paths: ['/open/**'] }];
    for (const target of [
      ...['/open/../admin', '/open/./x', '/open/..', '/open//x', '//open/x'],
      ...[
        '/open/%2e%2e/admin',
        '/open/.%2E/admin',
        '/open/%2f',
        '/open%2Fx',
        '/open/%5c..%5cadmin',
        '/open/\\x',
      ],
      ...[
        '/open/..;/admin',
        '/open/..;x=1/admin',
        '/open/.;/x',
        '/open/%3b',
        '/open/%252e%252e/admin',
        '/open/%',
      ],
      ...['/open/%zz', '/open/x#y', '/open/%23x', '/open/%3fx'],
      ...['/open/..%00/x', '/open/x%0a', '/open/..%20/x', '/open/%7f', '/open/;/x', '/open/;x'],
      ...['/open/%c0%ae%c0%ae/x', '/open/..%c0%af', '/open/%ff', '/open/%ef%bc%8e./x', '/open/a%ef%bc%8fb'],
      ...['%E2%88%95', '%E2%81%84', '%E2%88%96', '%C2%A5', '%E2%82%A9', '%EF%BF%A5'].flatMap((sign) => [
        `/open/..${sign}admin`,
        `/open/x${sign}..${sign}admin`,
      ]),
      ...['%C2%A0', '%C2%85', '%E2%80%8B', '%C2%AD', '%EF%BB%BF', '%E3%85%A4', '%EF%B8%80'].flatMap(
        (sign) => [`/open/..${sign}/admin`, `/open/.${sign}./admin`, `/open/${sign}../admin`],
      ),
      ...['/open/..::$INDEX_ALLOCATION/admin', '/open/%E3%80%82%E3%80%82/admin', '/open/%C2%B7%C2%B7/admin'],
    ])
      assert.equal(asked(rules, 'GET', target), 'its path can be read in two ways', target);
    // A control.
    for (const target of [
      '/open/a%20b',
      '/open/%c3%a9',
      '/open/a;v=1',
      '/open/...',
      '/open/x.y/',
      '/open/a..b',
      '/open/..a',
      '/open/.well-known/x',
      '/open/%C2%A5500',
      '/open/a%C2%B7b%E2%80%8Bc',
    ])
      assert.equal(asked(rules, 'GET', target), 'allowed', target);
  });

  it('refuse a header that changes the method, the path or the host', () => {
    for (const name of [
      'X-HTTP-Method-Override',
      'x-http-method',
      'X-Method-Override',
      'X-Original-URL',
      'X-Rewrite-URL',
      ...['X_HTTP_Method_Override', 'X_Original_URL', 'X.Rewrite.URL', 'HTTP-Method-Override'],
      ...['X-Original-Path', 'X-Forwarded-Uri', 'X-Override-URL', 'X-HTTP-Path-Override'],
      ...['X-Envoy-Original-Path', 'X-Forwarded-Prefix', 'Destination', 'X-HTTP-Verb', 'Forwarded'],
      ...['X-Forwarded-Host', 'X-Original-Host', 'X-Host', 'X-Forwarded-Server', 'X_Forwarded_Host'],
    ])
      assert.match(
        asked([{ methods: ['GET'] }], 'GET', '/', [[name, 'DELETE']]),
        /^the header [a-z-]+ could change/,
      );
    // A control.
    for (const name of ['X-Request-Id', 'X-Forwarded-For', 'Access-Control-Request-Method', 'Authorization'])
      assert.equal(asked([{ methods: ['GET'] }], 'GET', '/', [[name, 'x']]), 'allowed', name);
  });
});
