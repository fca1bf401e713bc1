import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PLATFORMS } from '../../scripts/platforms.ts';
import { billOfMaterials } from '../../scripts/release-parts/bill-of-materials.ts';
import { homebrewFormula } from '../../scripts/release-parts/homebrew-formula.ts';
import { provenance } from '../../scripts/release-parts/provenance.ts';
import { releaseNotes } from '../../scripts/release-parts/release-notes.ts';
import { dependenciesOf } from '../../scripts/run-dependencies.mjs';
import { thirdPartyLicenses } from '../../scripts/third-party-licenses.ts';
import { ROOT } from '../support/project.ts';

const DIGESTS = new Map([['acor-linux-x64', 'ab'.repeat(32)]]);
const RELEASE = {
  root: ROOT,
  version: '0.1.0',
  commit: 'c0',
  committedAt: '2026-01-01T00:00:00.000Z',
  digests: DIGESTS,
};

/** The longest text of a release that GitHub accepts, in characters. */
const MOST_NOTES = 125_000;

describe('the lock file', () => {
  it('has the digest of every package, so that npm installs exactly what was tried', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const without = Object.keys(packages).filter((path) => path !== '' && !packages[path].integrity);
    assert.deepEqual(without, []);
  });
});

describe('the licences of the packages that ACOR contains', () => {
  it('are given for each with its text', () => {
    const text = thirdPartyLicenses(ROOT);
    for (const path of Object.keys(dependenciesOf(ROOT)).filter(
      (each) => each !== '' && !each.includes('@oven/'),
    ))
      assert.ok(text.includes(`\n${path.replace(/^.*node_modules\//, '')} `), path);
    assert.ok(text.split('Permission is hereby granted').length > 10);
  });
});

describe('what the first start of a checkout installs', () => {
  const packages = dependenciesOf(ROOT);
  const names = Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ''));

  it('has the dependencies, Bun, and nothing of the tests', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const name of [...Object.keys(dependencies), 'bun']) assert.ok(names.includes(name), name);
    for (const name of [
      'typescript',
      'node',
      '@biomejs/biome',
      '@cedar-policy/cedar-wasm',
      '@modelcontextprotocol/conformance',
    ])
      assert.ok(!names.includes(name), name);
  });
});

describe('a release', () => {
  it('lists every bundled package with version and licence, and is the same each time', () => {
    const bill = billOfMaterials(RELEASE);
    assert.deepEqual(bill, billOfMaterials(RELEASE));
    const zod = bill.components.find(({ name }) => name === 'zod')!;
    assert.match(zod.purl, /^pkg:npm\/zod@\d/);
    // The lock file has no checksum for some packages.
    const [hash] = bill.components.find(({ name }) => name === 'hono')!.hashes ?? [];
    assert.equal(hash?.alg, 'SHA-512');
    assert.deepEqual(zod.licenses, [{ license: { id: 'MIT' } }]);
    assert.match(
      bill.serialNumber,
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('states from which commit its files were made', () => {
    const { subject, predicate } = provenance(RELEASE);
    assert.deepEqual(subject, [{ name: 'acor-linux-x64', digest: { sha256: 'ab'.repeat(32) } }]);
    assert.deepEqual(predicate.buildDefinition.resolvedDependencies[0]!.digest, { gitCommit: 'c0' });
  });

  it('has a formula with the programs that were built', () => {
    const formula = homebrewFormula({
      version: '0.1.0',
      url: 'https://example.org/v0.1.0',
      digests: DIGESTS,
    });
    assert.match(
      formula,
      /on_linux do\n {4}on_intel do\n {6}url "https:\/\/example\.org\/v0\.1\.0\/acor-linux-x64"/,
    );
    assert.doesNotMatch(formula, /on_macos/);
  });

  it('has the notes of its version, and says which programs are unverified', () => {
    const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
    const notes = releaseNotes(changelog, '0.1.0', PLATFORMS);
    assert.match(notes, /^## 0\.1\.0/);
    assert.match(notes, /\| linux-x64 \| by the test suite \|/);
    assert.match(notes, /\| darwin-arm64 \| no: built only \|/);
    assert.ok(notes.length < MOST_NOTES, `the notes have ${notes.length} characters`);
    assert.throws(() => releaseNotes(changelog, '9.9.9', PLATFORMS), /no section/);
  });
});
