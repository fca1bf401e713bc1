import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import type { Violation } from '../policy/decision.ts';
import { installedFile, installFolder } from '../registry/own-files.ts';
import { type EngineQuestion, engineViolation } from './engine.ts';

/** The optional package that evaluates Cedar policies. */
export const CEDAR_PACKAGE = '@cedar-policy/cedar-wasm';

/** The used part of the package. */
interface Cedar {
  isAuthorized(call: Record<string, unknown>):
    | { type: 'failure'; errors: { message: string }[] }
    | {
        type: 'success';
        response: {
          decision: 'allow' | 'deny';
          diagnostics: { reason: string[]; errors: { policyId: string; error: { message: string } }[] };
        };
      };
  policySetTextToParts(text: string): { type: 'success'; policies: string[] } | { type: 'failure' };
  policyToJson(
    policy: string,
  ): { type: 'success'; json: { annotations?: Record<string, string> } } | { type: 'failure' };
}

/**
 * Evaluates Cedar policies: may `Tool::"name"` do `Action::"run"` in `Project::"cwd"`? The rest of the question is the
 * context. Everything that is not permitted is denied, and everything is denied when a policy fails to evaluate, which
 * Cedar itself would ignore.
 */
export async function askCedar(
  policiesFile: string,
  policyFile: string,
  question: EngineQuestion,
  by: string,
  folder: string = installFolder(),
): Promise<Violation[]> {
  const path = resolve(dirname(policyFile), policiesFile);
  const fix = `Fix the policies in ${path}.`;
  let cedar: Cedar | undefined;
  try {
    cedar = load(folder);
  } catch (error) {
    return [
      engineViolation(
        by,
        `the policy engine cedar cannot be loaded: ${errorMessage(error)}`,
        installed(folder),
      ),
    ];
  }
  if (cedar === undefined) {
    return [
      engineViolation(
        by,
        'the policy engine cedar is not installed, so every run is denied',
        installed(folder),
      ),
    ];
  }
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return [engineViolation(by, `the policies ${path} cannot be read (${errorCode(error)})`, fix)];
  }
  try {
    return decide(cedar, text, question, by, path, fix);
  } catch (error) {
    return [engineViolation(by, `the policies ${path} could not be asked: ${errorMessage(error)}`, fix)];
  }
}

function installed(folder: string): string {
  return `Install it: npm install --prefix '${folder}' ${CEDAR_PACKAGE}`;
}

function decide(
  cedar: Cedar,
  text: string,
  { tool, manifest, args, grants, cwd, caller }: EngineQuestion,
  by: string,
  path: string,
  fix: string,
): Violation[] {
  const { permissions, secrets } = manifest;
  const answer = cedar.isAuthorized({
    principal: { type: 'Tool', id: tool },
    action: { type: 'Action', id: 'run' },
    resource: { type: 'Project', id: cwd },
    context: {
      level: permissions.level,
      read: [...permissions.filesystem.read, ...pathsOf(grants, 'read')],
      write: [...permissions.filesystem.write, ...pathsOf(grants, 'write')],
      hosts: permissions.network.egress_allow,
      commands: permissions.commands,
      secrets,
      args,
      version: manifest.version,
      caller: caller ?? '',
    },
    policies: { staticPolicies: text },
    entities: [],
  });
  if (answer.type === 'failure') {
    const why = answer.errors.map(({ message }) => message).join('; ');
    return [engineViolation(by, `the policies ${path} do not hold: ${why}`, fix)];
  }
  const { decision, diagnostics } = answer.response;
  const broken = diagnostics.errors.map(({ policyId, error }) =>
    engineViolation(
      by,
      `${named(cedar, text, policyId)} of ${path} cannot be evaluated: ${error.message}`,
      fix,
    ),
  );
  if (broken.length > 0) return broken;
  if (decision === 'allow') return [];
  if (diagnostics.reason.length === 0)
    return [
      engineViolation(by, `no policy of ${path} permits it`, `Add a policy that permits it to ${path}.`),
    ];
  return diagnostics.reason.map((id) =>
    engineViolation(
      by,
      `${named(cedar, text, id)} of ${path} forbids it`,
      `Request less, or change that policy in ${path}.`,
    ),
  );
}

/** The package's module beside ACOR. */
export function findCedar(folder: string): string | undefined {
  return installedFile(folder, CEDAR_PACKAGE, 'nodejs', 'cedar_wasm.js');
}

function load(folder: string): Cedar | undefined {
  const file = findCedar(folder);
  return file === undefined ? undefined : (createRequire(file)(file) as Cedar);
}

/** A policy by its `@id`, or else by its position in the file. */
function named(cedar: Cedar, text: string, policyId: string): string {
  const index = Number(/^policy(\d+)$/.exec(policyId)?.[1]);
  const parts = cedar.policySetTextToParts(text);
  const policy = parts.type === 'success' ? parts.policies[index] : undefined;
  const json = policy === undefined ? undefined : cedar.policyToJson(policy);
  const id = json?.type === 'success' ? json.json.annotations?.['id'] : undefined;
  return id === undefined ? `policy ${index + 1}` : `policy '${id}'`;
}

function pathsOf(grants: EngineQuestion['grants'], access: 'read' | 'write'): string[] {
  return grants.filter((grant) => grant.access === access).map(({ path }) => path);
}
