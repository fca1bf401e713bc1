import { ToolError } from './tool-error.ts';

/** The inputs that the manifest declares, checked and of their types, by name; an input without a value is left out. */
export function args<T = Record<string, unknown>>(): T {
  const given = process.env['ACOR_INPUTS'] ?? inParts();
  if (given === undefined) {
    throw new ToolError(
      'E_USAGE',
      'this run has no declared inputs',
      'Declare inputs in tool.yaml, and run the tool with: acor run <tool>',
    );
  }
  return JSON.parse(given);
}

/** Long inputs come in several variables. */
function inParts(): string | undefined {
  let text: string | undefined;
  for (let number = 1; ; number++) {
    const part = process.env[`ACOR_INPUTS_${number}`];
    if (part === undefined) return text;
    text = (text ?? '') + part;
  }
}
