// Preloaded into Node or Bun before a tool's run (`warm: true`): the runtime has started, and waits for the run.
// Descriptor 3 delivers it: records that end in NUL, `cwd=`, `env=NAME=VALUE` for what the process does not have yet, and `arg=`. It serves one run, so nothing of it is
// shared with another. The runtime itself then starts the tool.
'use strict';

const { closeSync, readSync } = require('node:fs');
const { basename } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const ORDERS = 3;
const entry = process.argv[1];

function readOrders() {
  const parts = [];
  for (;;) {
    const part = Buffer.alloc(65_536);
    const count = readSync(ORDERS, part, 0, part.length, null);
    if (count === 0) break;
    parts.push(part.subarray(0, count));
  }
  closeSync(ORDERS);
  return Buffer.concat(parts).toString('utf8');
}

/** Takes over the variables, the folder and the arguments of the run. Without a run the process ends. */
function enter() {
  const text = readOrders();
  if (text === '') process.exit(0);
  const variables = new Map();
  const args = [];
  let folder = '/';
  for (const record of text.split('\0')) {
    const [key, value] = halves(record);
    if (key === 'env') variables.set(...halves(value));
    else if (key === 'arg') args.push(value);
    else if (key === 'cwd') folder = value;
  }
  // A shell that has started the runtime has noted its own folder there.
  if (process.env.PWD !== undefined) process.env.PWD = folder;
  for (const [name, value] of variables) process.env[name] = value;
  process.chdir(folder);
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args.slice(args.indexOf(entry) + 1));
}

function halves(text) {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Without this, `fork` of node:child_process would give the option that loads this file to a process of the tool, which would wait for a run of its own. */
function removeOption() {
  const at = process.execArgv.findIndex((option) => basename(option) === basename(__filename));
  process.execArgv.splice(at, 1);
}

// Node loads this file in every thread: in a worker of the tool, and in the one that a Node before 22.15 starts for `resolve-acor.mjs`.
// By then, descriptor 3 is closed or another file, and the thread would end without a word or wait for ever.
if (isMainThread) {
  enter();
  removeOption();
}
