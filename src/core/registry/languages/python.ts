import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { findProgram, isProgram } from '../find-program.ts';
import type { Language, RuntimeContext } from './language.ts';

const PYTHON_IN_VENV = process.platform === 'win32' ? join('Scripts', 'python.exe') : join('bin', 'python');

/**
 * Python: the tool's own virtual environment, else the shared one beside the tools, else `python3`. Tools can import
 * the SDK without an install.
 */
export const python: Language = {
  name: 'python',
  extensions: ['.py'],
  detect: (file) => file.extension === '.py' || /^python[0-9.]*$/.test(file.interpreter ?? ''),
  runtime(context) {
    const venv = venvsOf(context).find((each) => existsSync(each));
    if (venv !== undefined) return pythonIn(venv, context);
    const found = findProgram('python3', context.env) ?? findProgram('python', context.env);
    if (found !== undefined) return found;
    throw new AcorError(
      'E_RUNTIME_MISSING',
      `tool '${context.tool}' is written in Python, but python3 is not on the PATH`,
      {
        hint: 'Install Python 3, for example with: apt-get install python3, brew install python, or from https://www.python.org/downloads/',
        details: { runtime: 'python3' },
      },
    );
  },
  command: (runtime, { entry, sdk }) => ({
    argv: [runtime, entry],
    runtime,
    warm: [runtime, join(sdk.sdkWarm, 'start.py'), entry],
    // A cache beside the sources would be executed, and each run would change the tool that a person approved.
    env: { PYTHONPATH: sdk.sdkPython, PYTHONDONTWRITEBYTECODE: '1' },
  }),
};

function venvsOf({ toolDir, toolsDir }: RuntimeContext): string[] {
  const own = [join(toolDir, 'venv'), join(toolDir, '.venv')];
  return toolsDir === null ? own : [...own, join(toolsDir, 'shared_venv')];
}

/** Do not resolve this path: Python finds its virtual environment through the path it was started by. */
function pythonIn(venv: string, { tool }: RuntimeContext): string {
  const found = join(venv, PYTHON_IN_VENV);
  if (isProgram(found)) return found;
  throw new AcorError(
    'E_RUNTIME_MISSING',
    `the virtual environment of tool '${tool}' has no working Python: ${found}`,
    {
      hint: `Create it again: python3 -m venv --clear '${venv}', then install what the tool needs; or remove the folder.`,
      details: { runtime: found },
      next: [{ command: `python3 -m venv --clear '${venv}'`, why: 'Create the virtual environment again.' }],
    },
  );
}
