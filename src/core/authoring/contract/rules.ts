/** How much a finding harms an agent: the order is from the most to the least. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** One requirement of the contract for command lines. */
export interface Rule {
  /** The section of seed 004 that has it. */
  section:
    | 'Orientation Surface'
    | 'Capability Discovery'
    | 'Output Envelope'
    | 'Exit Codes'
    | 'Command Behavior'
    | 'Parity'
    | 'Granularity'
    | 'Composability'
    | 'Migration';
  /** Its text there, or the part of it that this rule judges. */
  source: string;
  /** What an agent cannot do while it is broken. */
  impact: string;
  /** The part of the score that it decides. */
  weight: number;
}

const rule = (section: Rule['section'], weight: number, source: string, impact: string): Rule => ({
  section,
  source,
  impact,
  weight,
});

/** All rules by their stable ids, in the order of the contract. `docs/compose.md` is generated from them. */
export const RULES = {
  'tools-command': rule(
    'Orientation Surface',
    5,
    'MUST provide: <tool> tools',
    'An agent has to parse help texts to learn what it may call.',
  ),
  'health-command': rule(
    'Orientation Surface',
    3,
    'MUST provide: <tool> health',
    'An agent cannot see before its work that something is missing, nor how to provide it.',
  ),
  'health-shape': rule(
    'Orientation Surface',
    3,
    'health MUST return actionable remediation (checks[].fix) and lifecycle status (ready|degraded|blocked)',
    'An agent cannot classify the readiness of the program.',
  ),
  'config-command': rule(
    'Orientation Surface',
    1,
    'MUST provide: <tool> config show (or equivalent capability/config introspection)',
    'An agent cannot see which settings its calls will use.',
  ),
  'catalog-fields': rule(
    'Capability Discovery',
    3,
    'Required per-tool metadata fields',
    'An agent has to guess types, effects or limits of a command.',
  ),
  'catalog-order': rule(
    'Capability Discovery',
    1,
    'MUST return deterministic order (category, then name)',
    'A comparison of two catalogs shows changes where there are none.',
  ),
  'catalog-global-flags': rule(
    'Capability Discovery',
    1,
    'MUST include globalFlags in catalog output',
    'An agent does not learn the flags that every command takes.',
  ),
  'catalog-detail': rule(
    'Capability Discovery',
    1,
    'MUST expose full catalog and single-tool detail',
    'An agent has to read the whole catalog for one command.',
  ),
  'catalog-complete': rule(
    'Capability Discovery',
    3,
    'MUST generate catalog from a single source registry; do not duplicate metadata',
    'An agent misses commands that only the help or only the catalog names.',
  ),
  help: rule(
    'Capability Discovery',
    5,
    'Capture current surface (--help, common workflows, failure modes)',
    'An agent cannot learn how the program is called.',
  ),
  'command-help': rule(
    'Capability Discovery',
    3,
    'MUST expose full catalog and single-tool detail',
    'An agent learns the flags of a command only by failing.',
  ),
  'structured-output': rule(
    'Output Envelope',
    8,
    'Structured commands MUST emit exactly one compact JSON envelope on stdout by default',
    'An agent has to scrape text, which breaks with the next version.',
  ),
  'envelope-shape': rule(
    'Output Envelope',
    4,
    '{ ok: true, data: <payload>, meta: { tool, elapsed, count?, total?, hasMore? } }',
    'An agent needs another parser for each command, and sees no difference between an empty answer and a failure.',
  ),
  'stdout-purity': rule(
    'Output Envelope',
    5,
    'stdout in structured mode MUST contain the envelope only; logs/errors go to stderr',
    'A JSON parser fails at the first byte that is not JSON.',
  ),
  'presentation-flags': rule(
    'Command Behavior',
    1,
    'Do not add generic presentation flags such as --text, --format, table, CSV, or TSV for structured stdout',
    'There are several forms of one answer, and each has to be kept stable.',
  ),
  'error-envelope': rule(
    'Exit Codes',
    5,
    '{ ok: false, error: { code, message, hint }, meta: { tool, elapsed } }',
    'An agent cannot distinguish one failure from another without reading prose.',
  ),
  'error-hint': rule(
    'Exit Codes',
    2,
    'Errors MUST use stable error.code plus actionable error.hint',
    'An agent does not learn how to repair its call.',
  ),
  'errors-on-stderr': rule(
    'Output Envelope',
    3,
    'logs/errors go to stderr',
    'A pipe takes the text of an error for data.',
  ),
  'exit-success': rule('Exit Codes', 4, '0: success', 'A script takes a call that succeeded for a failure.'),
  'exit-usage': rule(
    'Exit Codes',
    4,
    '1: runtime/validation/business failure',
    'An agent cannot distinguish a wrong call from a missing prerequisite by its exit code.',
  ),
  'exit-runtime': rule(
    'Exit Codes',
    4,
    '1: runtime/validation/business failure',
    'An agent cannot distinguish a failure from other endings by its exit code.',
  ),
  'exit-blocked': rule(
    'Exit Codes',
    3,
    '2: blocked prerequisites (environment/config/schema/dependency gate)',
    'An agent repeats a call that can only succeed after something was provided.',
  ),
  'non-interactive': rule(
    'Command Behavior',
    5,
    'Commands MUST run fully non-interactively via args/flags',
    'An agent waits for a program that does not end without a person.',
  ),
  confirmation: rule(
    'Command Behavior',
    3,
    'Commands MUST run fully non-interactively via args/flags',
    'An agent cannot answer the question of a command that asks before it acts.',
  ),
  'control-characters': rule(
    'Output Envelope',
    2,
    'stdout in structured mode MUST contain the envelope only',
    'Escape sequences for terminals are part of the data that a pipe gets.',
  ),
  determinism: rule(
    'Capability Discovery',
    3,
    'MUST return deterministic order (category, then name)',
    'An agent cannot compare two answers, nor cache them.',
  ),
  'key-stability': rule(
    'Output Envelope',
    3,
    'Envelope keys (ok, data, error, meta) MUST stay stable across projects',
    'A selector that worked for one answer finds nothing in the next.',
  ),
  'dry-run': rule(
    'Command Behavior',
    3,
    'Mutating commands SHOULD support --dry-run; if impossible, document why',
    'An agent cannot show a person what a command would change.',
  ),
  selectors: rule(
    'Composability',
    3,
    'MUST provide filters/selectors to avoid fragile post-processing',
    'An agent reads, and pays for, a whole list to use a part of it.',
  ),
  'flag-consistency': rule(
    'Command Behavior',
    2,
    'Command signatures and flag semantics MUST stay consistent across groups',
    'A flag that an agent learned at one command does something else at another.',
  ),
  grammar: rule(
    'Composability',
    1,
    'SHOULD favor consistent nouns/verbs across commands',
    'An agent cannot derive the name of a command from those that it knows.',
  ),
  'crud-matrix': rule(
    'Parity',
    3,
    'Build entity CRUD matrix; fill all required operations',
    'An agent can begin a piece of work that it cannot finish or inspect.',
  ),
  parity: rule(
    'Parity',
    3,
    'NEVER keep critical operations UI-only or manual-only',
    'Only a person can do this action.',
  ),
  granularity: rule(
    'Granularity',
    2,
    'MUST keep one command focused on one atomic operation',
    'An agent cannot do one of the actions without the others, nor see which one a call does.',
  ),
  deprecation: rule(
    'Migration',
    1,
    'Mark wrappers as deprecated with explicit replacement commands',
    'An agent learns that it should not call a command, and not what to call instead.',
  ),
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof RULES;
