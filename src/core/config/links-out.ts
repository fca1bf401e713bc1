import { AcorError } from '../../protocol/acor-error.ts';
import { TRUST } from '../../protocol/next-steps.ts';
import type { LinkedFolder } from './project-folders.ts';
import { isInProject, realFolderOf, type Widening } from './widening.ts';

/** A link that leads a folder out of the project is a widening: no person has written the path to which it leads. */
export function linksOut(folders: readonly LinkedFolder[], root: string): Widening[] {
  const seen = new Set<string>();
  return folders.flatMap(({ key, folder, link }) => {
    if (seen.has(link) || isInProject(folder, root)) return [];
    seen.add(link);
    const means = 'a link in the project leads this folder out of it';
    return [
      { key, where: link, asked: folder, without: null, means, leads_to: [realFolderOf(folder, root)] },
    ];
  });
}

/** Throws E_APPROVAL_REQUIRED for the first link that leads to no trusted place: no default is safe instead. */
export function refuseLinks(links: readonly Widening[], trusted: readonly Widening[]): void {
  const places = new Set(trusted.flatMap((each) => each.leads_to ?? []));
  const link = links.find((each) => !each.leads_to?.every((place) => places.has(place)));
  if (link === undefined) return;
  throw new AcorError(
    'E_APPROVAL_REQUIRED',
    `${link.key}: the link ${link.where} leads out of the project, to ${link.leads_to}, and no person has trusted that`,
    {
      hint: 'Remove the link. Or a person reads where it leads, and trusts it at a terminal.',
      details: { key: link.key, link: link.where, leads_to: link.leads_to },
      next: [TRUST],
    },
  );
}
