import * as z from 'zod';
import { loadAll } from '../catalog.ts';
import type { CliApp } from '../cli-app.ts';
import { defineOperation } from '../operation.ts';
import { type Parameter, parametersOf } from '../parameters.ts';
import { calledAs } from '../write-command.ts';
import { noSuch, READS } from './reads.ts';

/** One setting, its value, and where the value comes from. */
export interface Setting {
  key: string;
  value: unknown;
  /** For example `default`, a file, or a variable. */
  source: string;
}

export function configCommand<C>(
  app: CliApp<C>,
  settings: ((context: C) => Promise<Setting[]> | Setting[]) | undefined,
) {
  return defineOperation({
    ...READS,
    name: 'config.show',
    summary: 'Show each setting, and where its value comes from.',
    input: z.object({ key: z.string().optional().describe('Only this setting.') }),
    output: z.object({
      settings: z.array(z.object({ key: z.string(), value: z.unknown(), source: z.string() })),
    }),
    positionals: ['key'],
    list: 'settings',
    example: `${calledAs(app)} config show`,
    run: async (
      { key: wanted },
      { app: context, cwd, env }: { app: C; cwd: string; env: Record<string, string | undefined> },
    ) => {
      const all = [...(await layered(app, { cwd, env })), ...((await settings?.(context)) ?? [])];
      const found = all.filter(({ key }) => wanted === undefined || key === wanted);
      const keys = all.map(({ key }) => key);
      if (wanted !== undefined && found.length === 0) throw noSuch('setting', wanted, keys);
      return { kind: 'data', data: { settings: found } };
    },
  });
}

/** The inputs of all commands that have a key in the configuration files, each key once. */
export async function configInputs<C>(
  app: Pick<CliApp<C>, 'routes'>,
): Promise<(Parameter & { config: string })[]> {
  const inputs = (await loadAll(app.routes)).flatMap(({ op }) => parametersOf(op));
  const keyed = inputs.filter((each): each is Parameter & { config: string } => each.config !== undefined);
  return [...new Map(keyed.map((each) => [each.config, each])).values()];
}

async function layered<C>(app: CliApp<C>, io: { cwd: string; env: Env }): Promise<Setting[]> {
  const inputs = await configInputs(app);
  if (inputs.length === 0) return [];
  const layers = await app.layers?.(io);
  return inputs
    .map((each) => {
      const text = each.env === undefined ? undefined : io.env[each.env];
      const found = text ? { value: text, source: each.env! } : layers?.valueOf(each.config);
      const { value = null, source } = found ?? { value: each.default, source: 'default' };
      return { key: each.config, value: each.isSecret && value !== null ? '(secret)' : value, source };
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

type Env = Record<string, string | undefined>;
