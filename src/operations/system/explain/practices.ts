import type { Facts } from './facts.ts';
import { type Section, section } from './section.ts';

/** What works well, for the caller of tools and for their author. */
export function practiceSections({ hasCalls }: Pick<Facts, 'hasCalls'>): Section[] {
  return [
    section('When you run tools', [
      hasCalls
        ? '- Read `next`, `error.action` and `error.retryable` before you decide; make the calls of `next` as they are.'
        : '- Read `meta.next`, `error.action` and `error.retryable` before you decide; run the commands of `meta.next` as they are.',
      '- Before a call that writes or destroys: `--dry-run`. Where a second run would harm: `--idempotency-key KEY`.',
      '- Keep answers small: `--fields result.data`. Read the log only when the answer does not say enough.',
      '- Long work: `--detach`, then `acor wait <run> --timeout 540`. No progress for long (`last_progress_at` in `acor show`): cancel it and give it less work.',
      '- Give answers that are always the same beforehand: `--answer ACTION=VALUE`. Say why: `acor answer … --reason`.',
      '- After `E_OUTCOME_UNKNOWN`, look at what was changed before you pass `--force`.',
    ]),
    section('When you write tools', [
      '- One tool, one action; several actions in an order are a workflow.',
      '- Read inputs with `args()` of the SDK: the manifest declares them once. Write outputs to a path input with `access: write`.',
      '- Emit `progress` between batches, or `heartbeat` at least every 30 s, and look for the cancel file there; save a checkpoint after each batch.',
      '- Fail with an error code and a hint that says what to do; leave `retryable` to the error table.',
      '- Ask with `ask()` and list the action under `actions`; never guess for the caller.',
      '- Declare `effects`, `timeout_s`, `exit_codes` and a self-test; then `acor validate <tool> --strict --selftest`.',
    ]),
  ];
}
