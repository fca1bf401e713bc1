#!/usr/bin/env bun
import { turnsFolder } from '../core/host/host-folder.ts';
import { callHost } from '../host/call-host.ts';
import { takeStartTurn } from '../util/start-turn.ts';
import { useOwnArrayMethods } from './array-methods.ts';

if (process.versions.bun !== undefined) useOwnArrayMethods();
const argv = process.argv.slice(2);
// `call-host.pl` lets this program report a host that was killed.
if (argv[0] === 'host' && argv[1] === 'lost')
  process.exit(await (await import('../host/lost-host.ts')).reportLostHost());
const answer = await callHost(argv);
process.exit(typeof answer === 'number' ? answer : await runHere(answer === 'missed'));

async function runHere(wantsHost: boolean): Promise<number> {
  if (argv[0] === 'run' || argv[0] === 'exec') await takeStartTurn(turnsFolder(process.env));
  return (await import('./run-command.ts')).runCommand(argv, { wantsHost });
}
