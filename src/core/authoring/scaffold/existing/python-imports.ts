import { readFileSync } from 'node:fs';
import { ownFile } from '../../../registry/own-files.ts';
import type { ChangedLine } from '../planned-file.ts';

/** Imports of a tool's own `protocol` module, rewritten to the SDK where it offers the same. */
export interface MovedImports {
  text: string;
  lines: ChangedLine[];
  /** Imports that stay, and why. */
  kept: { line: number; text: string; why: string }[];
}

const FROM =
  /^([ \t]*from[ \t]+)((?:_lib\.)?protocol)([ \t]+import[ \t]+)(\([^)]*\)|(?:[^\n\\#]|\\\r?\n)+)/gm;
const WHOLE =
  /^([ \t]*)(from[ \t]+_lib[ \t]+import[ \t]+protocol|import[ \t]+(?:_lib\.)?protocol)((?:[ \t]+as[ \t]+(\w+))?)(?=[ \t]*(?:#.*)?\r?$)/gm;

/**
 * Rewrites `from _lib.protocol import …` and similar imports to `acor.protocol` (seed 001). It changes only the module
 * name, and only when every imported function has the same parameters in `theirs`, the tool's own module, and in the
 * SDK.
 */
export function moveImports(source: string, theirs: Signatures, sdk: Signatures): MovedImports {
  const lines: ChangedLine[] = [];
  const kept: MovedImports['kept'] = [];
  const move = (whole: string, offset: number, before: string, after: string, used: readonly string[]) => {
    const line = whole.slice(0, offset).split('\n').length;
    const why = used.map((name) => difference(name, theirs, sdk)).find((each) => each !== undefined);
    if (why === undefined) lines.push({ line, before: shown(before), after: shown(after) });
    else kept.push({ line, text: shown(before), why });
    return why === undefined ? after : before;
  };
  const first = source.replaceAll(FROM, (all, from, _module, imports, names, offset) =>
    move(source, offset, all, `${from}acor.protocol${imports}${names}`, namesIn(names)),
  );
  const text = first.replaceAll(WHOLE, (all, indent, _statement, alias, name, offset) => {
    const word = name ?? 'protocol';
    const after = `${indent}from acor import protocol${alias}`;
    return move(first, offset, all, after, isDotted(all, name) ? ['_lib'] : attributesOf(word, source));
  });
  lines.sort((a, b) => a.line - b.line);
  return { text, lines, kept: kept.sort((a, b) => a.line - b.line) };
}

/** Why the SDK's function cannot replace this one. */
function difference(name: string, theirs: Signatures, sdk: Signatures): string | undefined {
  if (name === '*') return 'it imports everything; name what it uses';
  if (name === '_lib') return 'the module is used by its full name; import it under a short name';
  const offered = sdk.get(name);
  if (offered === undefined || name.startsWith('_')) return `acor.protocol has no '${name}'`;
  const own = theirs.get(name);
  if (own === undefined) return `its module does not define '${name}' in a way that can be compared`;
  return own.every((parameter, index) => offered[index] === parameter)
    ? undefined
    : `'${name}' takes (${own.join(', ')}), that of acor.protocol (${offered.join(', ')})`;
}

function namesIn(list: string): string[] {
  return list
    .replaceAll(/#[^\n]*|[()\\]/g, '')
    .split(',')
    .map((each) => each.trim().split(/\s+as\s+/)[0]!)
    .filter((each) => each !== '');
}

function attributesOf(module: string, source: string): string[] {
  return [
    ...new Set([...source.matchAll(new RegExp(`\\b${module}\\.(\\w+)`, 'g'))].map(([, name]) => name!)),
  ].filter((name) => name !== 'protocol');
}

/** `import _lib.protocol` binds `_lib`, not `protocol`. */
function isDotted(statement: string, alias: string | undefined): boolean {
  return alias === undefined && /import[ \t]+_lib\.protocol/.test(statement);
}

/** The line on which a statement begins. */
function shown(statement: string): string {
  return statement.trim().split('\n', 1)[0]!.trimEnd();
}

/** The functions of a Python module with their parameter names in order, without `*args` and `**kwargs`. */
type Signatures = ReadonlyMap<string, readonly string[]>;

/** The emitters of the SDK, read from its own source. */
export function sdkSignatures(): Signatures {
  return signaturesIn(readFileSync(ownFile('sdk', 'python', 'acor', 'emitter.py'), 'utf8'));
}

/** The functions that a Python source defines, including methods. */
export function signaturesIn(source: string): Signatures {
  const found = new Map<string, string[]>();
  for (const [, name, parameters] of source.matchAll(/^[ \t]*def (\w+)\(([^)]*)\)/gm)) {
    const names = parameters!
      .split(',')
      .map((each) => each.replace(/[:=].*/s, '').trim())
      .filter((each) => each !== '' && each !== 'self' && !each.startsWith('*'));
    found.set(name!, names);
  }
  return found;
}
