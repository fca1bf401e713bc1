import type { Document } from 'yaml';

/**
 * A change of one key: its new value, what is added to its list, or the names of the elements that its list loses. Without
 * these, the key is removed.
 */
export interface YamlEdit {
  path: readonly string[];
  value?: unknown;
  add?: unknown;
  without?: readonly string[];
}

/** The text of a YAML file with one key changed; comments, order and notation stay. */
export async function editYaml(text: string, { path, value, add, without }: YamlEdit): Promise<string> {
  const yaml = await import('yaml');
  const document: Document = yaml.parseDocument(text, { stringKeys: true });
  const old = document.getIn(path, true);
  if (add !== undefined && yaml.isSeq(old)) old.add(document.createNode(add));
  else if (without !== undefined && yaml.isSeq(old)) {
    const isKept = (item: unknown) => !(yaml.isMap(item) && without.includes(String(item.get('name'))));
    old.items = old.items.filter(isKept);
    if (old.items.length === 0) remove(document, path, yaml);
  } else if (add === undefined && value === undefined) remove(document, path, yaml);
  else {
    // A file of comments alone has no map yet, nor has a key without a value.
    if (!yaml.isMap(document.contents)) document.contents = document.createNode({});
    for (let length = 1; length < path.length; length++) {
      const above = path.slice(0, length);
      if (!yaml.isMap(document.getIn(above))) document.setIn(above, document.createNode({}));
    }
    document.setIn(path, nodeLike(old, add === undefined ? value : [add], document, yaml));
  }
  return textLike(text, document, yaml);
}

/** The text of a changed document, with the notation, the line ends and the byte order mark of the text before. */
export function textLike(before: string, document: Document, yaml: typeof import('yaml')): string {
  const unchanged = yaml.parseDocument(before, { stringKeys: true });
  const text = document.toString(notationOf(before, unchanged));
  const start = before.startsWith('\ufeff') ? '\ufeff' : '';
  return start + (before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text);
}

/** The value that a path of keys leads to in parsed data; undefined when a key is missing. */
export function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (holder, key) =>
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
        ? (holder as Record<string, unknown>)[key]
        : undefined,
    tree,
  );
}

/** A new value with the notation and the comment of the one that it replaces. A scalar replaces a scalar in place. */
function nodeLike(old: unknown, value: unknown, document: Document, yaml: typeof import('yaml')): unknown {
  if (typeof value !== 'object') return value;
  const node = document.createNode(value);
  if (yaml.isNode(old) && old.comment) node.comment = old.comment;
  if (yaml.isCollection(old) && yaml.isCollection(node) && old.flow) node.flow = true;
  return node;
}

/** Removes a key, and the maps around it that it leaves empty. */
function remove(document: Document, path: readonly string[], yaml: typeof import('yaml')): void {
  if (!document.hasIn(path)) return;
  document.deleteIn(path);
  for (let length = path.length - 1; length > 0; length--) {
    const holder = document.getIn(path.slice(0, length));
    if (!yaml.isMap(holder) || holder.items.length > 0) return;
    document.deleteIn(path.slice(0, length));
  }
}

/** The way in which the file writes its collections: the one that reproduces it, as far as there is one. */
function notationOf(text: string, document: Document) {
  const all = [true, false].flatMap((flowCollectionPadding) =>
    [true, false].map((indentSeq) => ({ flowCollectionPadding, indentSeq })),
  );
  const lines = new Set(text.split(/\r?\n/));
  const added = all.map(
    (options) =>
      document
        .toString({ lineWidth: 0, ...options })
        .split('\n')
        .filter((line) => !lines.has(line)).length,
  );
  const best = all[added.indexOf(Math.min(...added))]!;
  const indent = /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
  return {
    lineWidth: 0,
    indentSeq: best.indentSeq,
    flowCollectionPadding: best.flowCollectionPadding,
    indent,
  };
}
