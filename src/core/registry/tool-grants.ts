import { readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { FilePattern } from '../../util/file-pattern.ts';
import { isInside, realPathOf } from '../../util/real-path.ts';
import { type ArgumentProblem, usageProblem } from './argument-problem.ts';
import {
  type Grant,
  type GrantRules,
  grantPath,
  NEVER_GRANTED,
  OWN_FILES_STAY,
  type StagedOutput,
  systemFolderOf,
} from './path-grants.ts';
import type { ReadInput } from './read-inputs.ts';
import type { ToolEntry } from './tool-entry.ts';

const MAX_MATCHES = 1000;

/** The folders for variables in a manifest's paths, and the paths that must stay read-only. */
interface DeclaredPathRules {
  projectRoot: string;
  hidden: readonly string[];
}

/**
 * Converts the paths in a manifest's `permissions.filesystem` to grants. `dir/**` is a folder; `dir/*.csv` matches the
 * files that exist now. `${TOOL_DIR}` and `${PROJECT}` are variables; other relative paths start at the project. Paths
 * in the workspace need no grant. Throws an error that names the invalid entry.
 */
export function declaredGrants(tool: ToolEntry, rules: DeclaredPathRules): Grant[] {
  const { read, write, modes } = tool.manifest.permissions.filesystem;
  return [
    ...read.flatMap((text) => grantsOf(tool, text, 'read', rules)),
    ...write.flatMap((text) =>
      grantsOf(tool, text, 'write', rules).map((grant) => ({
        ...grant,
        ...(modes?.[text] && { mode: modes[text] }),
      })),
    ),
  ];
}

function grantsOf(tool: ToolEntry, text: string, access: Grant['access'], rules: DeclaredPathRules): Grant[] {
  const input = `permissions.filesystem.${access}`;
  const refuse = (why: string, fix: string) =>
    new AcorError('E_PERMISSION', `tool '${tool.name}' requests '${text}' in ${input}: ${why}`, {
      hint: fix,
    });
  if (text.split('/').includes('..')) throw refuse("it holds '..'", 'Write the path without it.');
  if (/^(\$\{WORKSPACE\}|\$WORKSPACE|\.)(\/|$)/.test(text) || /^[/*][/.*]*$/.test(text)) return [];
  const expanded = text
    .replace(/^\$\{TOOL_DIR\}/, () => tool.dir)
    .replace(/^\$\{PROJECT\}/, () => rules.projectRoot);
  if (expanded.includes('$') || expanded.startsWith('~')) {
    throw refuse(
      'it contains an unknown variable',
      'Use ${WORKSPACE}, ${TOOL_DIR} or ${PROJECT} at the beginning.',
    );
  }
  const whole = isAbsolute(expanded) ? expanded : join(rules.projectRoot, expanded);
  // The look behind keeps the search linear: it begins once in a row of wildcards.
  const folder = whole.replace(/(?<!\/\*{1,2})(\/\*{1,2})+\/?$/, '');
  return folder.includes('*')
    ? matchesOf(folder, refuse, access).flatMap((path) => settle(path))
    : settle(folder);

  function settle(path: string): Grant[] {
    const real = realPathOf(path, rules.projectRoot);
    if (real.path === '/') throw refuse('it is the whole disk', 'Name folders of it.');
    if (NEVER_GRANTED.some((each) => isInside(real.path, each))) {
      throw refuse('it leads into the kernel', 'Name folders and files of a disk.');
    }
    const system = access === 'write' ? systemFolderOf(real.path) : undefined;
    if (system !== undefined) {
      throw refuse(
        `${system} belongs to the system`,
        'Name a folder of the project. Or let the tool write a file that a person puts in place.',
      );
    }
    const own = rules.hidden.find(
      (each) => isInside(real.path, each) || (access === 'write' && isInside(each, real.path)),
    );
    if (own !== undefined)
      throw refuse(`ACOR keeps its own files in ${own}`, `Name a folder beside it. ${OWN_FILES_STAY}`);
    if (real.stats !== undefined) return [{ path: real.path, access, input }];
    // The home of a task's executor is made when the task starts.
    if (access === 'write' && path === tool.home) return [{ path: real.path, access, input }];
    if (access === 'read') return [];
    const asFile = `mkdir -p '${dirname(real.path)}' && touch '${real.path}'`;
    throw refuse(
      'it does not exist',
      `Make it first. If it is a folder: mkdir -p '${real.path}'. If it is a file: ${asFile}`,
    );
  }
}

function matchesOf(
  pattern: string,
  refuse: (why: string, fix: string) => AcorError,
  access: Grant['access'],
): string[] {
  const folder = dirname(pattern);
  const name = pattern.slice(folder.length + 1);
  if (access === 'write' || folder.includes('*')) {
    throw refuse(
      'the pattern is too broad',
      access === 'write' ? 'Name a folder: dir/**' : "Only a last part may hold '*'.",
    );
  }
  const matching = FilePattern.ofNames(name);
  let names: string[];
  try {
    names = readdirSync(folder).filter((each) => matching.test(each));
  } catch {
    return [];
  }
  if (names.length > MAX_MATCHES)
    throw refuse(`it names ${names.length} files`, `Name the folder: ${folder}/**`);
  return names.map((each) => join(folder, each));
}

/** Turns path inputs into grants and staged outputs. Returns the inputs with the paths that the tool gets. */
export function grantInputs(
  inputs: readonly ReadInput[],
  rules: GrantRules,
): { read: ReadInput[]; problems: ArgumentProblem[]; grants: Grant[]; staged: StagedOutput[] } {
  const problems: ArgumentProblem[] = [];
  const grants: Grant[] = [];
  const staged: StagedOutput[] = [];
  const read = inputs.map(({ spec, values }) => ({
    spec,
    values:
      spec.type !== 'path'
        ? values
        : values.map(({ text }) => {
            const granted = grantPath(spec, text, rules);
            if ('rule' in granted) {
              problems.push(granted);
              return { value: text, text };
            }
            if (granted.grant) grants.push(granted.grant);
            if (granted.staged === undefined) return { value: granted.target, text: granted.text };
            if (staged.some((other) => other.target === granted.target)) {
              problems.push(
                usageProblem(
                  spec.name,
                  'same-output',
                  `'${text}' for '${spec.name}' is used as an output twice`,
                  'Use a different path for each output.',
                ),
              );
            }
            const output = withOwnPlace(granted.staged, staged);
            staged.push(output);
            return { value: output.target, text: output.staged };
          }),
  }));
  return { read, problems: [...problems, ...readAndReplaced(grants, staged)], grants, staged };
}

/** A file that the tool reads is not replaced by its output: the caller would lose it. */
function readAndReplaced(grants: readonly Grant[], staged: readonly StagedOutput[]): ArgumentProblem[] {
  return staged.flatMap(({ input, target }) => {
    const source = grants.find(({ path, access }) => access === 'read' && path === target);
    if (source === undefined) return [];
    return usageProblem(
      input,
      'same-output',
      `'${target}' is an input ('${source.input}') and an output ('${input}')`,
      `Use a different path for '${input}'.`,
    );
  });
}

/** Two outputs of one input may have the same name in different folders. */
function withOwnPlace(output: StagedOutput, others: readonly StagedOutput[]): StagedOutput {
  let place = output.staged;
  for (let n = 2; others.some((other) => other.staged === place); n++) {
    place = join(dirname(output.staged), String(n), basename(output.staged));
  }
  return { ...output, staged: place };
}
