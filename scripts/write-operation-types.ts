import * as z from 'zod';
import { loadAll } from '../src/compose/catalog.ts';
import { SERVERS } from '../src/operations/command-forms.ts';
import { ROUTES } from '../src/operations/index.ts';
import { type JsonSchema, typeOf } from './type-of-schema.ts';
import { writeGenerated } from './write-generated.ts';

// Writes src/client/operation-types.ts from the operations. With --check it writes nothing, and exits 1 when the file is stale.

writeGenerated('src/client/operation-types.ts', await text());

async function text(): Promise<string> {
  const operations = (await loadAll(ROUTES))
    .map(({ op }) => op)
    .filter(({ name }) => !SERVERS.some((server) => server === name));
  const members = operations
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, summary, input, output }) => {
      const given = typeOf(z.toJSONSchema(input, { io: 'input' }) as JsonSchema, '    ');
      const answered = typeOf(z.toJSONSchema(output, { io: 'output' }) as JsonSchema, '    ');
      return `  /** ${summary} */\n  '${name}': {\n    input: ${given};\n    data: ${answered};\n  };\n`;
    });
  return `// Written by scripts/write-operation-types.ts.

/** The input of each operation, and the data of its answer. */
export interface OperationTypes {
${members.join('')}}
`;
}
