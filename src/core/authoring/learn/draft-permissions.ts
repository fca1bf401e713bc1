import { Document, type Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Learned, Refused } from './least-permissions.ts';

const MAX_COMMENT = 200;
const MAX_REFUSED = 30;

/** The `permissions` of a manifest as YAML, with the evidence behind each value. */
export function draftPermissions(
  tool: string,
  learned: readonly Learned[],
  refused: readonly Refused[],
): string {
  const document = new Document({});
  const permissions = new YAMLMap();
  const filesystem = new YAMLMap();
  const network = new YAMLMap();
  const listOf = (permission: Learned['permission']) => {
    const list = new YAMLSeq();
    for (const { value, evidence } of learned.filter((each) => each.permission === permission)) {
      const node = document.createNode(value) as Scalar;
      node.comment = safe(evidence);
      list.add(node);
    }
    return list;
  };
  for (const access of ['read', 'write'] as const) {
    const list = listOf(`filesystem.${access}`);
    if (list.items.length > 0) filesystem.set(access, list);
  }
  if (filesystem.items.length > 0) permissions.set('filesystem', filesystem);
  const hosts = listOf('network.egress_allow');
  if (hosts.items.length > 0) network.set('egress_allow', hosts);
  if (network.items.length > 0) permissions.set('network', network);
  const commands = listOf('commands');
  if (commands.items.length > 0) permissions.set('commands', commands);
  document.set('permissions', permissions);
  document.commentBefore = [
    `DRAFT: what one run of '${tool}' needed. Other arguments may need more. Review each line before you copy it into the manifest.`,
    ...refused.slice(0, MAX_REFUSED).map(({ what, why }) => `Not included: ${what} (${why})`),
    ...(refused.length > MAX_REFUSED ? [`Not included: ${refused.length - MAX_REFUSED} more`] : []),
  ]
    .map(safe)
    .join('\n');
  return document.toString({ lineWidth: 0 });
}

/** A name that the tool chose must not end the comment that contains it. */
function safe(text: string): string {
  return ` ${text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').slice(0, MAX_COMMENT)}`;
}
