import type { Plugin } from 'acor';

const hours: Plugin = {
  onPreRun({ tool, effects, args }) {
    if (effects === 'destroys' && !args.includes('--yes')) return { veto: `${tool} destroys: give --yes` };
    return { limits: { timeout_s: 600 } };
  },
};

export default hours;
