import { shellCommand } from '../../../util/shell-words.ts';
import type { Finding } from './finding.ts';
import type { Observed } from './observe.ts';
import type { RuleId } from './rules.ts';
import { leaves } from './surface.ts';

/** A task for an agent, as a script: it exits with 0 once the program passes. */
export interface ValidationTask {
  rule: RuleId;
  task: string;
  /** POSIX sh. */
  script: string;
  /** The programs that it needs besides the audited one. */
  needs: string[];
}

const JQ = ['jq'];

/** The tasks that prove the findings resolved. */
export function validationTasks(observed: Observed, findings: readonly Finding[]): ValidationTask[] {
  const broken = new Set(findings.map(({ rule }) => rule));
  const [reader] = leaves(observed.surface).filter(({ effect }) => effect === 'reads');
  /** The call that a finding is about, or any reading one. */
  const read = (rule: RuleId) => {
    const named = findings.find((each) => each.rule === rule)?.commands[0];
    const words = named ?? (reader && shellCommand(reader.words));
    return words === undefined ? undefined : `${shellCommand([observed.program])} ${words}`;
  };
  return tasksOf(shellCommand([observed.program]), read)
    .filter(({ rule }) => broken.has(rule))
    .map(({ script, ...task }) => ({ ...task, script: `#!/bin/sh\n# ${task.task}\nset -u\n${script}\n` }));
}

function tasksOf(program: string, read: (rule: RuleId) => string | undefined): ValidationTask[] {
  return [
    {
      rule: 'tools-command',
      task: 'An agent discovers every command.',
      script: answers(`${program} tools`, '.ok == true and (.data.tools | length > 0)'),
      needs: JQ,
    },
    {
      rule: 'catalog-fields',
      task: 'Every entry of the catalog says what it needs and does.',
      script: answers(
        `${program} tools`,
        '.data.tools | length > 0 and all(has("name") and has("command") and has("category") and has("description") and has("parameters") and has("outputFields") and has("idempotent") and has("rateLimit") and has("example"))',
      ),
      needs: JQ,
    },
    {
      rule: 'health-command',
      task: 'An agent classifies the readiness of the program.',
      script: answers(
        `${program} health`,
        '(.data // .error.details).status | IN("ready", "degraded", "blocked")',
      ),
      needs: JQ,
    },
    {
      rule: 'config-command',
      task: 'An agent reads the settings.',
      script: `out=$(${program} config show </dev/null) && [ -n "$out" ]`,
      needs: [],
    },
    ...(read('structured-output') === undefined
      ? []
      : [
          {
            rule: 'structured-output' as const,
            task: 'An agent reads data without parsing text.',
            script: answers(`${read('structured-output')}`, 'has("ok")'),
            needs: JQ,
          },
          {
            rule: 'envelope-shape' as const,
            task: 'An answer is one envelope.',
            script: `${read('envelope-shape')} </dev/null 2>/dev/null | jq -es 'length == 1 and (.[0] | has("ok") and has("meta"))' >/dev/null`,
            needs: JQ,
          },
          {
            rule: 'stdout-purity' as const,
            task: 'stdout holds JSON and nothing else.',
            script: answers(`${read('stdout-purity')}`, 'true'),
            needs: JQ,
          },
          {
            rule: 'determinism' as const,
            task: 'Two equal calls answer alike.',
            script: `one=$(${read('determinism')} </dev/null 2>/dev/null | sed 's/"elapsed":[0-9.]*//')\nother=$(${read('determinism')} </dev/null 2>/dev/null | sed 's/"elapsed":[0-9.]*//')\n[ -n "$one" ] && [ "$one" = "$other" ]`,
            needs: ['sed'],
          },
        ]),
    {
      rule: 'error-envelope',
      task: 'A wrong call is answered with a code and a hint.',
      script: answers(
        `${program} --acor-no-such-option`,
        '.ok == false and (.error.code | length > 0) and (.error.hint | length > 0)',
      ),
      needs: JQ,
    },
    {
      rule: 'error-hint',
      task: 'A wrong call says how to repair it.',
      script: `${program} --acor-no-such-option </dev/null 2>&1 | grep -Eqi 'help|usage|try|did you mean|hint'`,
      needs: ['grep'],
    },
    {
      rule: 'errors-on-stderr',
      task: 'The text of an error is not on stdout.',
      script: `out=$(${program} --acor-no-such-option </dev/null 2>/dev/null)\n[ $? -lt 126 ] || exit 1\ncase "$out" in ''|'{'*) exit 0 ;; *) exit 1 ;; esac`,
      needs: [],
    },
    {
      rule: 'exit-usage',
      task: 'A wrong call exits with 1.',
      script: `${program} --acor-no-such-option </dev/null >/dev/null 2>&1\n[ $? -eq 1 ]`,
      needs: [],
    },
    {
      rule: 'exit-success',
      task: 'The help exits with 0.',
      script: `${program} --help </dev/null >/dev/null 2>&1`,
      needs: [],
    },
    {
      rule: 'help',
      task: 'The program describes how it is called.',
      script: `out=$(${program} --help </dev/null 2>&1)\n[ $? -lt 126 ] && [ -n "$out" ]`,
      needs: [],
    },
  ];
}

/**
 * Passes when stdout of a call is JSON, and each value passes the filter. The values are read as one list: of no value at all,
 * `jq -e` exits with 0 before its version 1.7.
 */
function answers(call: string, filter: string): string {
  return `${call} </dev/null 2>/dev/null | jq -es 'length > 0 and all(.[]; ${filter})' >/dev/null`;
}
