export { type AcorSandboxOptions, acorSandbox } from './sandbox.ts';
export { acorTools } from './tools.ts';
