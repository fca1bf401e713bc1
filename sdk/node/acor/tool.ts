// What `acor/tool` is for a tool that has not installed ACOR: found through NODE_PATH by Bun, through resolve-acor.mjs by Node.
export * from '../../../src/tool/index.ts';
