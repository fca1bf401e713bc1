import { requireRuntime } from '../find-program.ts';
import type { Language } from './language.ts';

/** Shell scripts. `ACOR_LIB` is the folder of the SDK: `source "$ACOR_LIB/acor.sh"`. */
export const bash: Language = {
  name: 'bash',
  extensions: ['.sh', '.bash'],
  detect: (file) =>
    file.extension === '.sh' ||
    file.extension === '.bash' ||
    file.interpreter === 'bash' ||
    file.interpreter === 'sh',
  runtime({ tool, env }) {
    return requireRuntime('bash', env, {
      message: `tool '${tool}' is a shell script, but bash is not on the PATH`,
      hint: 'Install bash, for example with: apt-get install bash or apk add bash',
    });
  },
  command: (runtime, { entry, sdk }) => ({ argv: [runtime, entry], runtime, env: { ACOR_LIB: sdk.sdkBash } }),
};
