import type { Plugin } from 'acor';

const pearls: Plugin = {
  languages: [
    {
      name: 'perl',
      extensions: ['.pl'],
      detect: ({ interpreter }) => interpreter === 'perl',
      runtime: ({ findProgram }) => findProgram('perl'),
      command: (runtime, { entry }) => ({ argv: [runtime, '-w', entry] }),
    },
  ],
};

export default pearls;
