import { groupBy } from '../util/group-by.ts';
import type { Catalog, CatalogEntry, CatalogLine } from './catalog.ts';
import { cutToWidth, padToWidth } from './display-width.ts';
import type { Screen } from './screen.ts';
import { styled } from './style.ts';

/**
 * Renders the catalog for a person: one line per command, grouped by category, or one operation with its parameters.
 */
export function renderCatalog(
  data: Catalog | { tools: CatalogLine[] } | CatalogEntry,
  screen: Screen,
): string {
  return 'tools' in data ? overview(data, screen) : detail(data, screen);
}

function overview({ tools }: { tools: readonly CatalogLine[] }, screen: Screen): string {
  const width = Math.max(0, ...tools.map((each) => each.command.length));
  const groups = groupBy(tools, (each) => each.category);
  return [...groups]
    .map(([category, group]) => {
      const lines = group.map((each) => line(each.command, width, each.description, screen));
      return [styled(category, 'bold', screen), ...lines].join('\n');
    })
    .join('\n\n');
}

function detail(entry: CatalogEntry, screen: Screen): string {
  const width = Math.max(0, ...entry.parameters.map((each) => each.name.length));
  return [
    `${styled(entry.command, 'bold', screen)}  ${entry.name}`,
    `  ${entry.description}`,
    `  Effect: ${entry.effect}, ${entry.idempotent ? 'idempotent' : 'not idempotent'}`,
    `  Example: ${entry.example}`,
    ...entry.parameters.map((each) => line(each.name, width, `${each.type}: ${each.description}`, screen)),
    `  Fields: ${entry.outputFields.join(', ')}`,
  ].join('\n');
}

function line(name: string, width: number, text: string, screen: Screen): string {
  return cutToWidth(`  ${padToWidth(name, width)}  ${text}`, screen.width, screen.unicode ? '…' : '...');
}
