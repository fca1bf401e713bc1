import type { CallToolResult } from '@modelcontextprotocol/server';
import type { NextCall } from './next-calls.ts';
import { OWN_TOOLS } from './own-tools.ts';

const NAMES = OWN_TOOLS.filter(({ onlyWhereKept }) => onlyWhereKept).map(({ name }) => name);

/**
 * Whether the tools for kept changes are listed although neither a manifest nor the configuration keeps any: from the
 * first answer on whose next calls name one. The clients are notified before they get it.
 */
export class KeptTools {
  areListed = false;
  onListed: () => void = () => {};

  /** Lists them if the answer names one. */
  see({ structuredContent }: CallToolResult): void {
    const { next = [] } = (structuredContent ?? {}) as { next?: NextCall[] };
    if (this.areListed || !next.some((call) => 'tool' in call && NAMES.includes(call.tool))) return;
    this.areListed = true;
    this.onListed();
  }
}
