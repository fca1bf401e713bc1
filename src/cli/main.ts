#!/usr/bin/env bun
import { callHost } from '../host/call-host.ts';

const argv = process.argv.slice(2);
const answer = await callHost(argv);
process.exit(
  typeof answer === 'number'
    ? answer
    : await (await import('./run-command.ts')).runCommand(argv, { wantsHost: answer === 'missed' }),
);
