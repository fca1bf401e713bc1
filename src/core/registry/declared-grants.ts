import { readdirSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import type { Grant } from './path-grants.ts';
import { isInside, realPathOf } from './real-path.ts';
import type { ToolEntry } from './tool-entry.ts';

const MAX_MATCHES = 1000;
/** Windows into the kernel and other processes. */
const NEVER_GRANTED = ['/proc', '/sys', '/dev'];

/** Where the variables of a manifest's paths lead, and what no path may open for writing. */
export interface DeclaredPathRules {
  projectRoot: string;
  hidden: readonly string[];
}

/**
 * The paths that a manifest names in `permissions.filesystem`, as grants. `dir/**` is a folder, `dir/*.csv` the files there are now;
 * `${TOOL_DIR}` and `${PROJECT}` are known, and a path without any lies in the project. What lies in the workspace is the tool's
 * anyway. Throws with the entry that does not hold.
 */
export function declaredGrants(tool: ToolEntry, rules: DeclaredPathRules): Grant[] {
  const { read, write } = tool.manifest.permissions.filesystem;
  return [
    ...read.flatMap((text) => grantsOf(tool, text, 'read', rules)),
    ...write.flatMap((text) => grantsOf(tool, text, 'write', rules)),
  ];
}

function grantsOf(tool: ToolEntry, text: string, access: Grant['access'], rules: DeclaredPathRules): Grant[] {
  const input = `permissions.filesystem.${access}`;
  const refuse = (why: string, fix: string) =>
    new AcorError('E_PERMISSION', `tool '${tool.name}' asks for '${text}' in ${input}: ${why}`, {
      hint: fix,
    });
  if (text.split('/').includes('..')) throw refuse("it holds '..'", 'Write the path without it.');
  if (/^(\$\{WORKSPACE\}|\$WORKSPACE|\.)(\/|$)/.test(text) || /^\/*\**$/.test(text)) return [];
  const expanded = text
    .replace(/^\$\{TOOL_DIR\}/, () => tool.dir)
    .replace(/^\$\{PROJECT\}/, () => rules.projectRoot);
  if (expanded.includes('$') || expanded.startsWith('~')) {
    throw refuse(
      'it holds a variable that is not known',
      'Use ${WORKSPACE}, ${TOOL_DIR} or ${PROJECT}, at the beginning.',
    );
  }
  const whole = isAbsolute(expanded) ? expanded : join(rules.projectRoot, expanded);
  const folder = whole.replace(/(\/\*{1,2})+\/?$/, '');
  return folder.includes('*')
    ? matchesOf(folder, refuse, access).flatMap((path) => settle(path))
    : settle(folder);

  function settle(path: string): Grant[] {
    const real = realPathOf(path, rules.projectRoot);
    if (NEVER_GRANTED.some((each) => isInside(real.path, each))) {
      throw refuse('it leads into the kernel', 'Name folders and files of a disk.');
    }
    const own = rules.hidden.find(
      (each) => isInside(real.path, each) || (access === 'write' && isInside(each, real.path)),
    );
    if (own !== undefined) throw refuse(`ACOR keeps its own files in ${own}`, 'Name a folder beside it.');
    if (real.stats !== undefined) return [{ path: real.path, access, input }];
    if (access === 'read') return [];
    throw refuse('it does not exist', `Make it first: mkdir -p '${real.path}'`);
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
      'the pattern is too wide',
      access === 'write' ? 'Name a folder: dir/**' : "Only a last part may hold '*'.",
    );
  }
  const asRegExp = new RegExp(`^${name.split('*').map(quotePattern).join('[^/]*')}$`);
  let names: string[];
  try {
    names = readdirSync(folder).filter((each) => asRegExp.test(each));
  } catch {
    return [];
  }
  if (names.length > MAX_MATCHES)
    throw refuse(`it names ${names.length} files`, `Name the folder: ${folder}/**`);
  return names.map((each) => join(folder, each));
}

function quotePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
