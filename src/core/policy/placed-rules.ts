import type { PolicyRules } from '../../protocol/policy-file.ts';
import { type PolicyLayer, placeIn } from './policy-layer.ts';

/** The rules of one layer that hold for a tool, and how their places are found. */
export interface PlacedRules {
  rules: PolicyRules;
  at(path: string): string;
}

/** What a layer says of all tools, and what it says of this one. */
export function rulesFor(tool: string, layer: PolicyLayer): PlacedRules[] {
  const own = layer.policy.tools !== undefined && Object.hasOwn(layer.policy.tools, tool);
  return [
    { rules: layer.policy, at: (path) => placeIn(layer, path) },
    ...(own
      ? [{ rules: layer.policy.tools![tool]!, at: (path: string) => placeIn(layer, `tools.${tool}.${path}`) }]
      : []),
  ];
}
