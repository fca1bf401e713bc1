import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { TlsService } from '../../test/support/tls-service.ts';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { interleavedMedians } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const ROUNDS = 7;
const REQUESTS = 50;
const FILES = 1000;
const FILE_BYTES = 10_000;

/** What it costs that ACOR puts a secret into requests, and that a tool writes into a layer or a folder with a snapshot. */
export const isolation: Bench = {
  name: 'isolation',
  summary: 'injected secrets, layers and snapshots',
  async run(context) {
    if (!(await bubblewrap.probe()).available) return [];
    return [...(await injectionRows(context)), ...(await layerRows(context))];
  },
};

async function injectionRows({ program, workplace }: BenchContext): Promise<Row[]> {
  const project = new Project(workplace.makeFolder('injection'));
  const service = await TlsService.start('api.test');
  try {
    const host = `api.test:${service.port}`;
    const authority = service.writeAuthority(join(project.dir, 'authority.pem'));
    project.write('.acor/config.yaml', 'version: 1\n');
    const settings = [
      `allow_private_egress: ['${host}']`,
      'egress_hosts: { api.test: 127.0.0.1 }',
      `egress_authorities: ['${authority}']`,
    ];
    project.write('user/acor/config.yaml', `version: 1\nsecurity: { ${settings.join(', ')} }\n`);
    const env = { ...workplace.env, XDG_CONFIG_HOME: join(project.dir, 'user') };
    execFileSync(program.acor, ['secret', 'set', 'KEY'], {
      cwd: project.dir,
      env,
      input: 'the-value-of-the-key',
    });
    // One connection for all requests, as a client of an API has.
    const urls = `https://${host}/[1-${REQUESTS}]`;
    const addTool = (name: string, more: string) =>
      project.write(
        `tools/${name}/tool.yaml`,
        `name: ${name}\nversion: 1.0.0\nadapter: plain\ncommand: [curl, -sSk, -o, /dev/null, '${urls}']\npermissions: { network: { egress_allow: ['${host}'] } }\n${more}`,
      );
    addTool('passed_on', '');
    addTool('injected', `secrets: [{ name: KEY, as: env, inject: { hosts: ['${host}'] } }]\n`);
    const run = (tool: string) => async () => {
      const command = { argv: [program.acor, 'run', tool], cwd: project.dir, env };
      const { wallMs } = await runProcess(command, join(workplace.folder, 'out'));
      project.takeRun();
      return wallMs;
    };
    const figures = await interleavedMedians(
      { passedOn: run('passed_on'), injected: run('injected') },
      { rounds: ROUNDS, warmUps: 2 },
    );
    const baseline = { what: 'the same, TLS passed on', value: figures.passedOn };
    const what = `acor run: ${REQUESTS} HTTPS requests with an injected secret`;
    return [{ what, unit: 'ms', acor: figures.injected, baseline, target: null }];
  } finally {
    service.close();
  }
}

async function layerRows({ program, workplace }: BenchContext): Promise<Row[]> {
  const project = new Project(workplace.makeFolder('layers'));
  project.write('.acor/config.yaml', 'version: 1\n');
  for (let n = 0; n < FILES; n++) project.write(`data/${n % 10}/${n}`, `${n}`.padEnd(FILE_BYTES, '.'));
  project.write(
    'tools/writes/tool.yaml',
    'name: writes\nversion: 1.0.0\nadapter: plain\npermissions: { filesystem: { write: [data] } }\n',
  );
  project.write('tools/writes/cli.sh', `#!/bin/bash\necho changed >${join(project.dir, 'data/0/0')}\n`);
  const run =
    (...flags: string[]) =>
    async () => {
      const command = {
        argv: [program.acor, 'run', ...flags, 'writes'],
        cwd: project.dir,
        env: workplace.env,
      };
      const { wallMs } = await runProcess(command, join(workplace.folder, 'out'));
      project.takeRun();
      return wallMs;
    };
  const figures = await interleavedMedians(
    { inPlace: run(), review: run('--review'), snapshot: run('--snapshot') },
    { rounds: ROUNDS, warmUps: 2 },
  );
  const row = (mode: string, acor: number): Row => ({
    what: `acor run: ${mode} of ${FILES} files, ${(FILES * FILE_BYTES) / 1_000_000} MB`,
    unit: 'ms',
    acor,
    baseline: { what: 'the same, in place', value: figures.inPlace },
    target: null,
  });
  return [row('a layer', figures.review), row('a snapshot', figures.snapshot)];
}
