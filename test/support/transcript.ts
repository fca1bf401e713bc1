import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = dirname(dirname(import.meta.dirname));

/** The transcript: commands and their output, in sections; `<run>` is the id of the newest run. */
const SECTIONS: readonly { words: string; commands: readonly string[] }[] = [
  {
    words: '',
    commands: [
      'acor describe example_processor --fields name,usage,effects',
      'acor run example_processor --input data/orders.json --output report.json',
      'acor show <run> --fields state,duration_s,artifacts',
      'acor verify <run>',
      'acor run example_processor --input missing.json --output report2.json',
      'acor run exmaple_processor --input data/orders.json',
    ],
  },
  {
    words: `## A question

The tool meets a record that it cannot read, and asks. The command ends with exit code 2; the run lives on and waits. Any other
shell answers, and the same process goes on.

`,
    commands: [
      `echo '{"id":"c-2001","version":"1.0"}' >data/customers-v1/c-2001.json`,
      'acor run data_migrator --source data/customers-v1 --target customers-v2 --batch-size 20 --on-bad-record ask',
      'acor answer <run> bad-record --choice skip_bad --reason "it is a draft" --by planner',
      'acor wait <run>',
      'acor decisions <run>',
    ],
  },
];

/** Runs the commands in a copy of the example project and writes down what they print, word for word. */
export function recordTranscript(): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'acor-transcript-')));
  try {
    cpSync(join(ROOT, 'examples'), project, { recursive: true, filter: (path) => !path.includes('.runs') });
    let runId = '';
    const shown = (command: string) => {
      const line = command.replace('<run>', runId);
      const { stdout, status } = spawnSync('sh', ['-c', line], {
        cwd: project,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${ROOT}:${process.env.PATH}` },
        input: '',
      });
      if (line.startsWith('acor run ')) runId = /"run_id":"(r-[^"]+)"/.exec(stdout)?.[1] ?? runId;
      return `\`\`\`console\n$ ${line}\n${stdout}[exit code ${status}]\n\`\`\`\n`;
    };
    const parts = SECTIONS.map(({ words, commands }) => `${words}${commands.map(shown).join('\n')}`);
    return parts.join('\n').replaceAll(project, '/home/you/examples').replaceAll(ROOT, '/opt/acor');
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** The same text without what differs from run to run: ids, times, durations, and the hashes that follow from them; and how the machine confines. */
export function withoutChance(text: string): string {
  return (
    text
      .replaceAll(/r-[0-9a-z]{16}/g, 'r-…')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/"(trace_id|span_id)":"[0-9a-f]+"/g, '"$1":"…"')
      .replaceAll(/"(duration_s|elapsed|cpu_s|max_rss_bytes|bytes)":[\d.a-z]+/g, '"$1":0')
      // What holds on the machine at hand.
      .replaceAll(/"isolation":\{[^}]*\}/g, '"isolation":{}')
      .replaceAll(/"seal":\{[^}]*\}/g, '"seal":{}')
  );
}
