import type { RuleId, Severity } from './rules.ts';

export const SOURCE_LANGUAGES = ['typescript', 'python', 'go', 'rust'] as const;

export type SourceLanguage = (typeof SOURCE_LANGUAGES)[number];

/** A line of a source that breaks a rule when it runs. */
export interface SourceRule {
  rule: RuleId;
  severity: Severity;
  message: string;
  /** The lines, by language. */
  lines: Readonly<Partial<Record<SourceLanguage, RegExp>>>;
  /** A file that contains this has thought of it. */
  unless?: RegExp;
  fix: string;
}

const TERMINAL_CHECK = /isatty|isTTY|is_terminal|IsTerminal|NO_COLOR/;

/** What reading can see. Each row belongs to a rule that running judges as well. */
export const SOURCE_RULES: readonly SourceRule[] = [
  {
    rule: 'stdout-purity',
    severity: 'medium',
    message: 'writes text to stdout beside the envelope',
    lines: {
      typescript: /\bconsole\.(?:log|info|table)\((?!\s*JSON\.stringify)/,
      python: /(?<![\w.])print\((?!.*(?:json\.dumps|file\s*=\s*sys\.stderr))/,
      go: /\bfmt\.Print(?:ln|f)?\(/,
      rust: /(?<![\w])print(?:ln)?!\((?!.*(?:serde_json|to_string\())/,
    },
    fix: 'Write it to stderr, or make it a part of the data of the envelope.',
  },
  {
    rule: 'exit-runtime',
    severity: 'medium',
    message: 'exits with a code that the contract does not have',
    lines: {
      typescript: /\bprocess\.exit(?:Code\s*=|\()\s*(?:[3-9]|\d{2,})\b/,
      python: /\b(?:sys\.exit|os\._exit|SystemExit)\(\s*(?:[3-9]|\d{2,})\b/,
      go: /\bos\.Exit\(\s*(?:[3-9]|\d{2,})\b/,
      rust: /\bprocess::exit\(\s*(?:[3-9]|\d{2,})\b/,
    },
    fix: 'Exit with 1 for a failure, or with 2 when something must be provided first.',
  },
  {
    rule: 'error-envelope',
    severity: 'medium',
    message: 'ends with text instead of an error with a code',
    lines: {
      typescript: /\bconsole\.error\(.*\);?\s*process\.exit/,
      python: /\b(?:sys\.exit|SystemExit)\(\s*f?["']/,
      go: /\blog\.Fatal(?:f|ln)?\(|(?<![\w.])panic\(/,
      rust: /(?<![\w])panic!\(/,
    },
    fix: 'Write {ok: false, error: {code, message, hint}, meta} to stdout, and exit with 1 or 2.',
  },
  {
    rule: 'non-interactive',
    severity: 'high',
    message: 'asks a question without checking for a terminal',
    lines: {
      typescript: /\.question\(|\binquirer\b|\benquirer\b|@clack\/prompts|\bprompts\(/,
      python: /(?<![\w.])input\(|\bgetpass\.getpass\(|\bclick\.(?:prompt|confirm)\(/,
      go: /\bpromptui\b|\bsurvey\.Ask|bufio\.NewReader\(os\.Stdin\)/,
      rust: /\bdialoguer\b|stdin\(\)\.read_line/,
    },
    unless: /isatty|isTTY|is_terminal|IsTerminal/,
    fix: 'Take the answer from a flag, and ask only when stdin and stdout are terminals.',
  },
  {
    rule: 'control-characters',
    severity: 'medium',
    message: 'writes an escape sequence without checking for a terminal',
    lines: {
      typescript: /\\x1b\[|\\u001b\[|\\u\{1b\}\[/i,
      python: /\\x1b\[|\\033\[|\\u001b\[/i,
      go: /\\x1b\[|\\033\[|\\u001b\[/i,
      rust: /\\x1b\[|\\u\{1b\}\[/i,
    },
    unless: TERMINAL_CHECK,
    fix: 'Style text only when stdout is a terminal and NO_COLOR is not set.',
  },
  {
    rule: 'dry-run',
    severity: 'medium',
    message: 'deletes files, and the file knows no dry run',
    lines: {
      typescript: /\b(?:rmSync|unlinkSync|rmdirSync)\(|\bfs(?:\.promises)?\.(?:rm|unlink)\(|\brimraf\(/,
      python: /\bos\.(?:remove|unlink|rmdir)\(|\bshutil\.rmtree\(/,
      go: /\bos\.Remove(?:All)?\(/,
      rust: /\bfs::remove_(?:file|dir|dir_all)\(/,
    },
    unless: /dry[_-]?run/i,
    fix: 'Add --dry-run, which reports what would be deleted.',
  },
];
