import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = dirname(dirname(import.meta.dirname));

/** The commands that the transcript shows; `<run>` stands for the run that the first one made. */
const COMMANDS = [
  'acor describe example_processor --fields name,usage,effects',
  'acor run example_processor --input data/orders.json --output report.json',
  'acor show <run> --fields state,duration_s,artifacts',
  'acor verify <run>',
  'acor run example_processor --input missing.json --output report2.json',
  'acor run exmaple_processor --input data/orders.json',
];

/** Runs the commands in a copy of the example project and writes down what they print, word for word. */
export function recordTranscript(): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'acor-transcript-')));
  try {
    cpSync(join(ROOT, 'examples'), project, { recursive: true, filter: (path) => !path.includes('.runs') });
    let runId = '';
    const parts = COMMANDS.map((command) => {
      const words = command.replace('<run>', runId).split(' ').slice(1);
      const { stdout, status } = spawnSync(join(ROOT, 'acor'), words, {
        cwd: project,
        encoding: 'utf8',
        input: '',
      });
      runId ||= /"run_id":"(r-[^"]+)"/.exec(stdout)?.[1] ?? '';
      return `\`\`\`console\n$ ${['acor', ...words].join(' ')}\n${stdout.trimEnd()}\n[exit code ${status}]\n\`\`\`\n`;
    });
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
