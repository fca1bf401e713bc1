import type { PolicyFile, PolicyRules } from '../../protocol/policy-file.ts';

export type PolicySource = 'system' | 'user' | 'project';

/** One valid policy file, with the places of its values. */
export interface PolicyLayer {
  source: PolicySource;
  file: string;
  policy: PolicyFile;
  /** `line:column` of each value, by its path, such as `network.egress_allow[0]`. */
  places: Readonly<Record<string, string>>;
}

/** `file:line:column` of a key, or of its parent. */
export function placeIn({ file, places }: PolicyLayer, path: string): string {
  for (let key = path; key !== ''; key = key.slice(0, Math.max(0, key.search(/(?:\.[^.[]*|\[[^[]*)$/)))) {
    if (Object.hasOwn(places, key)) return `${file}:${places[key]}`;
  }
  return `${file}:1:1`;
}

/** The rules of one layer for a tool, and a function that finds their places. */
export interface PlacedRules {
  rules: PolicyRules;
  at(path: string): string;
}

/** The rules of a layer for all tools, and those for this tool. */
export function rulesFor(tool: string, layer: PolicyLayer): PlacedRules[] {
  const own = layer.policy.tools !== undefined && Object.hasOwn(layer.policy.tools, tool);
  return [
    { rules: layer.policy, at: (path) => placeIn(layer, path) },
    ...(own
      ? [{ rules: layer.policy.tools![tool]!, at: (path: string) => placeIn(layer, `tools.${tool}.${path}`) }]
      : []),
  ];
}
