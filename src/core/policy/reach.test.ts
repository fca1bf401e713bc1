import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { policyFile } from '../../protocol/policy-file.ts';
import { coversHost } from './reach.ts';

describe('a host of the policy', () => {
  it('takes a name in its own script and in punycode for the same host, on either side', () => {
    const forms = ['bücher.example', 'BÜCHER.example', 'xn--bcher-kva.example', 'XN--bcher-KVA.Example'];
    for (const pattern of forms) {
      for (const host of forms) {
        assert.equal(coversHost(`${pattern}:443`, `${host}:443`), true, `${pattern} ${host}`);
        assert.equal(coversHost(`*.${pattern}:*`, `a.${host}:443`), true, `*.${pattern} ${host}`);
      }
      assert.equal(coversHost(`${pattern}:443`, 'bucher.example:443'), false);
      assert.equal(coversHost(`*.${pattern}:443`, `${pattern}:443`), false);
      const policy = { version: 1, network: { egress_allow: [`${pattern}:443`, `*.${pattern}:443`] } };
      assert.equal(policyFile.safeParse(policy).success, true, pattern);
    }
  });
});
