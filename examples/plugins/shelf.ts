import type { Plugin } from 'acor';

const shelf: Plugin = {
  onDiscovery: (tools) =>
    tools
      .filter(({ name }) => !name.startsWith('old_'))
      .map(({ name, version }) => ({ name, note: version === '0.0.0' ? 'has no version yet' : '' })),
};

export default shelf;
