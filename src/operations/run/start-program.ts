import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import type { AcorApp } from '../acor-app.ts';
import { plainCommand } from '../define.ts';
import { execCall } from './exec-call.ts';
import type { RunFlags } from './run-flags.ts';
import { type StartedTool, startTool } from './start-tool.ts';

/** The input of `run.exec`. */
export interface ProgramCall extends RunFlags {
  program: string;
  args: string[];
  read: string[];
  write: string[];
  net: string[];
  cmd: string[];
}

export async function startProgram(
  { program, args, read, write, net, cmd, ...flags }: ProgramCall,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<StartedTool>> {
  const call = execCall(program, args, { read, write, net, cmd }, ctx.cwd);
  const { registry } = await ctx.app.tools();
  const found = await registry.find(call.tool, { args: call.args, cwd: ctx.cwd, env: ctx.env });
  return startTool({ ...flags, ...call }, found, ctx);
}

export const plainRunExec = plainCommand('run.exec', startProgram);
