import type { CallerAction } from '../../protocol/policy-file.ts';
import type { Principal } from '../ports/principal.ts';
import type { Violation } from './decision.ts';
import { yamlText } from './explain-denial.ts';
import { type PolicyLayer, placeIn } from './policy-layer.ts';

/** The caller as policies name it. */
export function callerName({ kind, name }: Pick<Principal, 'kind' | 'name'>): string {
  return `${kind === 'local-user' ? 'user' : kind}:${name}`;
}

/** The rules of `who_may` that do not name the caller: each file is checked by itself, and all must allow the action. */
export function callerViolations(
  action: CallerAction,
  caller: Principal,
  layers: readonly PolicyLayer[],
): Violation[] {
  const asked = callerName(caller);
  return layers.flatMap((layer) => {
    const allowed = layer.policy.who_may?.[action];
    if (allowed === undefined || allowed.some((each) => each === asked || each === asked.split(':')[0]))
      return [];
    const key = `who_may.${action}`;
    const by = placeIn(layer, key);
    const named = allowed.length === 0 ? 'no caller' : `only ${allowed.join(', ')}`;
    return {
      path: key,
      asked,
      allowed,
      by,
      rule: `${asked} may not ${IN_WORDS[action]}: the policy lets ${named} do it`,
      fix: `Ask one of those who may. Or add ${yamlText(asked)} to the list ${key} at ${by}.`,
    };
  });
}

const IN_WORDS: Readonly<Record<CallerAction, string>> = {
  run: 'start runs',
  answer: 'answer questions',
  answer_own: 'answer questions of a run that the same caller has started',
  cancel: 'cancel runs',
  approve: 'approve tools or trust the project',
  change: 'change records, secrets or the configuration',
  read: 'read runs and tools',
};
