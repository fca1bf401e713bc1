import type { Severity } from './finding.ts';

/** A rule that files are held to. */
export interface Rule {
  /** Which files it is about. */
  about: 'any file' | 'config' | 'manifest' | 'tool' | 'error codes' | 'policy' | 'versions';
  severity: Severity;
  /** What is asked for, in one sentence. */
  asks: string;
  /** What `--fix` does about it, where that is safe. */
  mended?: string;
}

const error = (about: Rule['about'], asks: string, mended?: string): Rule => ({
  about,
  severity: 'error',
  asks,
  ...(mended !== undefined && { mended }),
});

const warning = (about: Rule['about'], asks: string, mended?: string): Rule => ({
  ...error(about, asks, mended),
  severity: 'warning',
});

/** All rules by their stable ids; `docs/validate.md` is written from this. A test holds it to what the sources tell. */
export const RULES: Readonly<Record<string, Rule>> = {
  unreadable: error('any file', 'The file is there and may be read.'),
  size: error('any file', 'The file has at most 256 KiB.'),
  encoding: error('any file', 'The file is UTF-8 text.'),
  yaml: error('any file', 'The file is valid YAML 1.2.'),
  'duplicate-key': error('any file', 'A key stands once in its map.'),
  'one-document': error('any file', 'The file is one YAML document.'),
  aliases: error('any file', 'Aliases unfold to little; manifests and policies have none.'),
  'too-deep': error('any file', 'The file is not nested very deeply.'),
  'unknown-key': error(
    'any file',
    'Every key is known.',
    'renames it, when one known key alone is nearest and is not there yet',
  ),
  missing: error('any file', 'Keys that must be there are there.'),
  type: error(
    'any file',
    'A value is of the type of its key.',
    'takes numbers and booleans out of quotes, puts texts into them, makes a list of a single text',
  ),
  'allowed-values': error('any file', 'A value is one of those allowed.'),
  bounds: error('any file', 'A number or a length is within its bounds.'),
  format: error('any file', 'A text has the form of its key.'),
  'key-name': error('any file', 'A free key has the form that its map asks for.'),
  deprecated: warning('any file', 'Nothing is written the old way.', 'writes it the new way'),
  'no-modeline': warning(
    'any file',
    'A configuration or manifest of the project names its schema for editors.',
    'adds it, and puts the schema into .acor/schemas/',
  ),
  'config-version': error('config', 'The file is of the version that this ACOR reads.'),
  'unset-variable': error('config', 'A ${VAR} without a default is set.'),
  'env-name': error('config', 'No tool is given a variable that has other code run in it.'),
  'no-version': warning('config', 'The file says its version, or that of the tool.', 'adds it'),
  'entry-or-command': error('manifest', '`entry` and `command` exclude each other.'),
  'inputs-or-schema': error('manifest', '`inputs` and `input_schema` exclude each other.'),
  'output-needs-plain': error('manifest', '`output: json` goes with `adapter: plain`.'),
  'duplicate-input': error('manifest', 'No two inputs are given by the same flag.'),
  'list-is-last': error('manifest', 'A positional list is the last positional input.'),
  'optional-is-last': error('manifest', 'Required positional inputs come first.'),
  'input-name': error('manifest', 'A property of `input_schema` can be a flag.'),
  'access-needs-path': error('manifest', '`access` is for inputs of type path.'),
  'joined-needs-flag': error('manifest', '`joined` is for inputs that are given by a flag.'),
  'flag-or-positional': error('manifest', 'An input is given by a flag or by position.'),
  'bool-is-a-flag': error('manifest', 'A bool is a single flag.'),
  'bound-needs-order': error('manifest', '`min` and `max` are for types that have an order.'),
  'min-above-max': error('manifest', '`min` is not above `max`.'),
  pattern: error('manifest', 'A pattern is a regular expression.'),
  'default-type': error('manifest', 'A default is of the type of its input.'),
  'level-too-low': error('manifest', '`permissions.level` covers what is asked for.'),
  'duplicate-exit-code': error('manifest', 'Each exit code has one meaning.'),
  language: error(
    'manifest',
    'The language is a known one, or can be told.',
    'gives a script with a #! line the mode bit x',
  ),
  'input-schema': error('manifest', '`input_schema` is a JSON Schema.'),
  'output-schema': error('manifest', '`output_schema` is a JSON Schema.'),
  'example-args': error('manifest', 'The arguments of an example hold against the inputs.'),
  'no-description': warning('manifest', 'Tool and inputs have a description.'),
  'no-timeout': warning('manifest', '`timeout_s` says how long the tool may take.'),
  'no-exit-codes': warning('manifest', '`exit_codes` lists what the tool ends with.'),
  'no-effects': warning('manifest', '`effects` says what a call does to the world.'),
  'no-selftest': warning('manifest', '`health.selftest` says how the tool tests itself.'),
  'wildcard-egress': warning('manifest', 'Hosts are named, without `*`.'),
  'wildcard-commands': warning('manifest', 'Commands are named, without `*`.'),
  'level-too-high': warning(
    'manifest',
    '`permissions.level` is the least that covers what is asked for.',
    'lowers it, unless it is privileged and nothing is asked for',
  ),
  'no-manifest': warning('tool', 'The tool has a manifest.'),
  'tool-name': error('tool', 'The name of a tool has its form.'),
  'no-entry': error('tool', 'A manifest leads to a program.'),
  'two-entries': error('tool', 'One file alone could be the entry.'),
  'entry-missing': error('tool', 'The entry is a file.'),
  'entry-outside': error('tool', 'The entry lies in the folder of the tool.'),
  'two-manifests': error('tool', 'One registry alone holds a manifest of the tool.'),
  'manifest-name': error('tool', 'A manifest is called tool.yaml.'),
  'duplicate-name': error('tool', 'No two tools have the same name.'),
  'dangling-link': error('tool', 'A symlink leads somewhere.'),
  'link-outside': error('tool', 'A symlink stays in the folder of the tools.'),
  selftest: error('tool', 'The self-test of the tool ends well (--selftest).'),
  'built-in-code': error('error codes', 'A built-in code keeps its class.'),
  'not-in-a-project': error('policy', 'The policy of a project approves nothing and starts nothing.'),
  'engine-command': error('policy', 'The engine `command` has a command.'),
  'engine-cedar': error('policy', 'The engine `cedar` has policies.'),
  engine: error('policy', '`command` and `cedar` go with their engines.'),
  absolute: error('policy', 'The program of an engine is named by its whole path.'),
  incompatible: error('versions', 'Tool and project fit this ACOR (--check-versions).'),
  'newer-acor': warning('versions', 'No later ACOR wrote the project (--check-versions).'),
  'version-file': warning('versions', '`version.json` says the same as the other files (--check-versions).'),
};
