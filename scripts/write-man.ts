import { manualPage } from '../src/compose/manual-page.ts';
import { ROUTES } from '../src/operations/index.ts';
import { ACOR_VERSION } from '../src/util/version.ts';
import { writeGenerated } from './write-generated.ts';

// Writes man/acor.1 from the operations. With --check it writes nothing, and exits 1 when the page is stale.

writeGenerated('man/acor.1', `.\\" Written by scripts/write-man.ts.\n${await page()}`);

function page(): Promise<string> {
  return manualPage(
    {
      name: 'acor',
      version: ACOR_VERSION,
      summary: 'run command-line tools for AI agents: checked, supervised, limited, recorded',
      routes: ROUTES,
    },
    {
      description: [
        'An agent or a person decides; tools do. Each call of a tool is a run: its arguments are checked, it is held by a sandbox,',
        'deadlines and limits, and all that it says is recorded below .runs/.',
        'Where stdout is no terminal every answer is one JSON envelope. An agent begins with',
      ],
      beginWith: 'acor explain',
      exits: [
        ['0', 'Done.'],
        ['1', 'Failed.'],
        ['2', 'Blocked: something must be provided first, such as an answer, an approval or a runtime.'],
      ],
      files: [
        ['.acor/config.yaml', 'The configuration of a project.'],
        ['.runs/', 'Its runs.'],
      ],
    },
  );
}
