import { Document, isMap, isScalar, parseDocument, type Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Permissions } from '../../../protocol/manifest-permissions.ts';
import type { Learned, Refused } from './least-permissions.ts';

const MAX_COMMENT = 200;
const MAX_REFUSED = 30;

/** The tool whose permissions are drafted. */
export interface DraftedTool {
  name: string;
  /** The text of its manifest; null for a tool without one. */
  manifest: string | null;
  /** What the manifest asks for now: how a folder is written, and rules for requests, stay as they are. */
  permissions: Permissions;
}

/** The manifest of a tool with the learned permissions instead of its own, and the evidence behind each value. */
export function draftManifest(
  tool: DraftedTool,
  learned: readonly Learned[],
  refused: readonly Refused[],
): string {
  const document =
    tool.manifest === null
      ? new Document({ name: tool.name, version: '0.0.0-draft' })
      : parseDocument(tool.manifest);
  document.set('permissions', permissionsOf(tool.permissions, learned));
  const head = [
    `DRAFT: what one run of '${tool.name}' needed. Other arguments may need more. Review each line of permissions.`,
    ...refused.slice(0, MAX_REFUSED).map(({ what, why }) => `Not included: ${what} (${why})`),
    ...(refused.length > MAX_REFUSED ? [`Not included: ${refused.length - MAX_REFUSED} more`] : []),
  ];
  const before = document.commentBefore ?? firstKeyComment(document);
  document.commentBefore = [...head.map(commentOf), ...(before == null ? [] : [before])].join('\n');
  return document.toString({ lineWidth: 0 });
}

/** The parser puts a comment at the top of a file to its first key. */
function firstKeyComment(document: { contents: unknown }): string | null | undefined {
  if (!isMap(document.contents)) return undefined;
  const key = document.contents.items[0]?.key;
  if (!isScalar(key)) return undefined;
  const { commentBefore } = key;
  key.commentBefore = null;
  return commentBefore;
}

function permissionsOf(now: Permissions, learned: readonly Learned[]): YAMLMap {
  const permissions = new YAMLMap();
  const within = (name: string) => {
    if (!permissions.has(name)) permissions.set(name, new YAMLMap());
    return permissions.get(name) as YAMLMap;
  };
  const listOf = (permission: Learned['permission']) => {
    const list = new YAMLSeq();
    for (const each of learned.filter((one) => one.permission === permission)) list.add(nodeOf(each, now));
    return list;
  };
  for (const access of ['read', 'write'] as const) {
    const list = listOf(`filesystem.${access}`);
    if (list.items.length > 0) within('filesystem').set(access, list);
  }
  const hosts = listOf('network.egress_allow');
  if (hosts.items.length > 0) within('network').set('egress_allow', hosts);
  const commands = listOf('commands');
  if (commands.items.length > 0) permissions.set('commands', commands);
  return permissions;
}

function nodeOf({ permission, value, evidence }: Learned, { filesystem, network }: Permissions) {
  const mode = permission === 'filesystem.write' ? filesystem.modes?.[value] : undefined;
  const rules = network.http_rules?.filter(({ host }) => host === value) ?? [];
  const document = new Document();
  const entry = mode === undefined ? value : { path: value, mode };
  const node = document.createNode(
    permission === 'network.egress_allow' && rules[0] !== undefined ? rules[0] : entry,
  ) as Scalar | YAMLMap;
  if (node instanceof YAMLMap) node.flow = true;
  node.comment = commentOf(evidence);
  return node;
}

/** A name that the tool chose must not end the comment that contains it. */
function commentOf(text: string): string {
  return ` ${text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').slice(0, MAX_COMMENT)}`;
}
