export type Severity = 'error' | 'warning';

/** A rule of validation. */
export interface Rule {
  /** The files that it concerns. */
  about:
    | 'any file'
    | 'config'
    | 'manifest'
    | 'tool'
    | 'error codes'
    | 'policy'
    | 'prompt'
    | 'workflow'
    | 'versions';
  severity: Severity;
  /** The requirement, in one sentence. */
  asks: string;
  /** What `--fix` does, when there is a safe fix. */
  fixed?: string;
}

const error = (about: Rule['about'], asks: string, fixed?: string): Rule => ({
  about,
  severity: 'error',
  asks,
  ...(fixed !== undefined && { fixed }),
});

const warning = (about: Rule['about'], asks: string, fixed?: string): Rule => ({
  ...error(about, asks, fixed),
  severity: 'warning',
});

/**
 * All rules by their stable ids. `docs/validate.md` is generated from them; a test compares them with the rules that
 * the sources report.
 */
export const RULES: Readonly<Record<string, Rule>> = {
  unreadable: error('any file', 'The file is there and may be read.'),
  size: error('any file', 'The file has at most 256 KiB, a workflow 4 MiB.'),
  encoding: error('any file', 'The file is UTF-8 text.'),
  yaml: error('any file', 'The file is valid YAML 1.2.'),
  'duplicate-key': error('any file', 'A key appears once in its map.'),
  'one-document': error('any file', 'The file is one YAML document.'),
  aliases: error('any file', 'Aliases unfold to little; manifests and policies have none.'),
  'too-deep': error('any file', 'The file is not nested very deeply.'),
  'unknown-key': error(
    'any file',
    'Every key is known.',
    'renames it, when exactly one key of the file is nearest, and it belongs there and is unused',
  ),
  missing: error('any file', 'Keys that must be there are there.'),
  type: error(
    'any file',
    'A value has the type of its key.',
    'removes the quotes of numbers and booleans, quotes texts, turns a single text into a list',
  ),
  'allowed-values': error('any file', 'A value is one of those allowed.'),
  bounds: error('any file', 'A number or a length is within its bounds.'),
  format: error('any file', 'A text has the form of its key.'),
  'key-name': error('any file', 'A free key has the form that its map requires.'),
  deprecated: warning('any file', 'Nothing is written the old way.', 'writes it the new way'),
  'no-modeline': warning(
    'any file',
    'A configuration or manifest of the project names its schema for editors.',
    'adds it, and writes the schema to .acor/schemas/',
  ),
  'config-version': error('config', 'This version of ACOR can read the file.'),
  'unset-variable': error('config', 'A ${VAR} without a default is set.'),
  'env-name': error('config', 'No tool gets a variable that makes it run other code.'),
  resource: error('config', 'A resource has a source and an address that fit.'),
  'resource-tool': error('config', 'The tool of a resource exists and only reads.'),
  'resource-input': error(
    'config',
    'The address of a resource names all inputs that its tool requires, and no other.',
  ),
  'no-version': warning('config', 'The file has a version.', 'adds it'),
  'entry-or-command': error('manifest', '`entry` and `command` exclude each other.'),
  'inputs-or-schema': error('manifest', '`inputs` and `input_schema` exclude each other.'),
  'output-records': error('manifest', '`output: records` is for a tool that sends messages.'),
  'output-needs-plain': error('manifest', '`output` requires `adapter: plain`.'),
  'output-columns': error(
    'manifest',
    '`format: columns` names its columns, no two columns share a name, and `types` names columns.',
  ),
  'output-setting': error('manifest', 'A setting of `output` is one that its format reads.'),
  'errors-need-text': error('manifest', '`errors` requires `adapter: plain` or `text-map`.'),
  'error-rule': error('manifest', 'A rule of `errors` has an exit code or a pattern.'),
  'adapter-needs-map': error('manifest', '`adapter: jsonl-map` and `text-map` have rules in `map`.'),
  'map-needs-adapter': error('manifest', '`map` requires `adapter: jsonl-map` or `text-map`.'),
  'map-match': error('manifest', 'A rule of `text-map` has `match`, and one of `jsonl-map` has not.'),
  'map-field': error('manifest', 'A rule of `map` sets the fields of its event, and only those it may set.'),
  'map-path': error('manifest', 'A path into a message is one that ACOR can read.'),
  'markers-need-adapter': error('manifest', '`markers` requires `adapter: markers`.'),
  'duplicate-input': error('manifest', 'No two inputs share a flag.'),
  'list-is-last': error('manifest', 'A positional list is the last positional input.'),
  'optional-is-last': error('manifest', 'Required positional inputs come first.'),
  'input-name': error('manifest', 'A property of `input_schema` can be a flag.'),
  'access-needs-path': error('manifest', '`access` is for inputs of type path.'),
  'in-place-needs-write': error('manifest', '`in_place` is for inputs with `access: write`.'),
  'flag-or-positional': error('manifest', 'An input is a flag or positional, not both.'),
  'joined-needs-flag': error(
    'manifest',
    '`joined` is for inputs with a flag, and a bool that may be false has more than a letter there.',
  ),
  'short-needs-flag': error('manifest', 'An input with `short` is not positional.'),
  'bool-is-a-flag': error('manifest', 'A bool is a single flag.'),
  'bound-needs-order': error('manifest', '`min` and `max` are for types that have an order.'),
  'min-above-max': error('manifest', '`min` is not above `max`.'),
  pattern: error('manifest', 'A pattern is a regular expression.'),
  'default-type': error('manifest', 'A default has the type of its input.'),
  'default-value': error('manifest', 'An input accepts its default.'),
  'level-too-low': error('manifest', '`permissions.level` is high enough for the requested permissions.'),
  'rules-need-gateway': error('manifest', 'A tool with rules for requests is not privileged.'),
  'host-without-rules': error(
    'manifest',
    'A host is listed with rules for its requests, or without, not both.',
  ),
  'variable-without-as': error('manifest', '`variable` of a secret goes with `as`.'),
  'injected-or-given': error('manifest', 'A secret is injected, or given to the tool, not both.'),
  'inject-needs-gateway': error('manifest', 'A tool with `inject` is not privileged.'),
  'inject-header': error('manifest', 'A secret is not put into a header of the connection itself.'),
  'inject-twice': error('manifest', 'A header of a host holds one secret.'),
  'duplicate-exit-code': error('manifest', 'Each exit code has one meaning.'),
  language: error(
    'manifest',
    'The language is known, or can be detected.',
    'gives a script with a #! line the mode bit x',
  ),
  'input-schema': error('manifest', '`input_schema` is a valid JSON Schema.'),
  'output-schema': error('manifest', '`output_schema` is a valid JSON Schema.'),
  'example-args': error('manifest', 'The arguments of an example are valid for the inputs.'),
  'no-description': warning('manifest', 'Tool and inputs have a description.'),
  'unchecked-input': warning('manifest', 'All keywords and formats of `input_schema` are checked.'),
  'no-access': warning('manifest', 'An input that names an output has `access`.', 'adds `access: write`'),
  'no-timeout': warning('manifest', '`timeout_s` limits the time of the tool.'),
  'no-exit-codes': warning('manifest', '`exit_codes` lists the exit codes of the tool.'),
  'no-effects': warning('manifest', '`effects` declares what a call changes.'),
  'no-selftest': warning('manifest', '`health.selftest` declares a self-test.'),
  'no-warm-start': warning('manifest', 'A tool with `warm: true` can get a warm start.'),
  'wildcard-egress': warning('manifest', 'Hosts are named, without `*`.'),
  'wildcard-commands': warning('manifest', 'Commands are named, without `*`.'),
  'level-too-high': warning(
    'manifest',
    '`permissions.level` is not higher than the requested permissions need.',
    'lowers it, unless it is privileged and no permissions are listed',
  ),
  'no-manifest': warning('tool', 'The tool has a manifest.'),
  'tool-name': error('tool', 'The name of a tool is valid.'),
  'no-entry': error('tool', 'A manifest has an entry or a command.'),
  'not-executable': error(
    'tool',
    'A file without a known language that is meant to be the entry can be started.',
  ),
  'two-entries': error('tool', 'Exactly one file can be the entry.'),
  'entry-missing': error('tool', 'The entry is an existing file.'),
  'entry-outside': error('tool', 'The entry is in the folder of the tool.'),
  'two-manifests': error('tool', 'Exactly one registry contains a manifest of the tool.'),
  'manifest-name': error('tool', 'The file name of a manifest is tool.yaml.'),
  'duplicate-name': error('tool', 'No two tools have the same name.'),
  'dangling-link': error('tool', 'The target of a symlink exists.'),
  'link-outside': error('tool', 'The target of a symlink is in the tools folder.'),
  'recorded-run': error(
    'tool',
    'A recorded output (`tests/*.json`) gives the data or the code that it gave.',
  ),
  selftest: error('tool', 'The self-test of the tool ends well (--selftest).'),
  'built-in-code': error('error codes', 'A built-in code keeps its class.'),
  'not-in-a-project': error(
    'policy',
    'The policy of a project contains no approvals and starts no programs.',
  ),
  'engine-command': error('policy', 'The engine `command` names its command.'),
  'engine-cedar': error('policy', 'The engine `cedar` names its policies.'),
  engine: error('policy', '`command` and `cedar` go with their engines.'),
  absolute: error('policy', 'The program of an engine is named by its whole path.'),
  'prompt-name': error('prompt', 'The name of the file, without .md, can be the name of a command.'),
  'prompt-argument': error('prompt', 'Every {{name}} in the text is among the arguments.'),
  'prompt-file': error('prompt', 'Every embedded file is in the project.'),
  expression: error('workflow', 'What stands in ${…} is an expression of the language, and its types fit.'),
  'inexact-number': error(
    'workflow',
    'A number, also a default in a manifest, is one that a program can hold.',
  ),
  'secret-input': error('workflow', 'No input is secret: ACOR stores the inputs of a workflow to resume it.'),
  'what-a-step-does': error('workflow', 'A step has one kind, and only keys of that kind.'),
  command: error('workflow', 'A command begins with the name of a tool, and its quotes are closed.'),
  'task-is-no-step': error('workflow', 'A task of a parallel step has no needs, condition or foreach.'),
  'key-without-use': error('workflow', 'Keys for a foreach are used with a foreach.'),
  'too-many-steps': error('workflow', 'A workflow has at most 10,000 steps.'),
  'duplicate-step': error('workflow', 'No two steps, and no two tasks of a step, have the same name.'),
  'unknown-need': error('workflow', 'Every needed step exists.'),
  cycle: error('workflow', 'The steps form no cycle.'),
  'unknown-step': error('workflow', 'Expressions read existing steps.'),
  'not-before': error('workflow', 'A step has ended before an expression reads it.'),
  'unknown-field': error('workflow', 'Expressions read existing fields of a step.'),
  'unknown-input': error('workflow', 'Expressions read declared inputs.'),
  'unknown-name': error('workflow', 'Expressions read names that exist at their place.'),
  'skipped-step': error('workflow', 'No expression reads a step that is always skipped.'),
  'maybe-skipped': warning('workflow', 'An output that reads a step which may be skipped tests that first.'),
  'text-not-expression': warning('workflow', 'A value that is meant as an expression stands in ${…}.'),
  'when-boolean': error('workflow', '`when` is true or false.'),
  'when-constant': warning('workflow', '`when` is not constant.'),
  'foreach-list': error('workflow', '`foreach` is a list of at most `max_items`.'),
  'unknown-tool': error('workflow', 'Every called tool exists.'),
  'broken-tool': error('workflow', 'Every called tool is usable.'),
  'reads-no-records': error('workflow', 'A tool after another one in a pipe declares `stdin: records`.'),
  argument: error('workflow', 'Arguments fit the inputs of their tool, as far as they are known.'),
  'duplicate-option': error('workflow', 'No two options of a decision have the same id.'),
  'answer-schema': error('workflow', 'The schema of an answer is a valid JSON Schema.'),
  'default-answer': error('workflow', 'The default of a decision is a valid answer.'),
  'unknown-code': error('workflow', '`retry.on` names classes of errors or error codes.'),
  'no-workflow-file': error('workflow', 'Every sub-workflow exists.'),
  'workflow-name': error('workflow', 'The name of a sub-workflow is that of one file.'),
  'grant-roots': error(
    'workflow',
    'Every workflow and sub-workflow is inside the folders that ACOR may grant, also where a link leads to it.',
  ),
  'workflow-in-itself': error('workflow', 'No workflow contains itself.'),
  'workflows-too-deep': error('workflow', 'Workflows are nested at most 8 deep.'),
  'workflow-input': error('workflow', 'A sub-workflow gets valid inputs.'),
  'writes-workflow': warning('workflow', 'No step can write the file of the workflow.'),
  incompatible: error('versions', 'Tool and project fit this ACOR (--check-versions).'),
  'newer-acor': warning('versions', 'No newer ACOR wrote the project (--check-versions).'),
  'version-file': warning('versions', '`version.json` matches the other files (--check-versions).'),
};
