import { progressLine } from './progress-line.ts';
import type { Project } from './project.ts';

/** The tool that writes as fast as `cat` can; its argument is how many times it writes its file of messages. */
export const FAST = 'fast_producer';
/** The Python tool that flushes each line; its argument is how many it writes. */
export const FLUSHING = 'flushing_producer';
/** The same for messages without `v`, `ts` and `run_id`, as tools written by hand send them. */
export const GAPPY = 'gappy_producer';
/** How many messages the fast producer's file holds. */
export const MESSAGES_IN_FILE = 10_000;
/** As long as a run's id is. */
export const BARE_RUN_ID = 'r-0123456789abcdef';

const PLACEHOLDER = '@RUN_ID@';

/** Adds the producers to a project that lets them write as much as they like; returns their entries. */
export function addProducers(project: Project): { fast: string; flushing: string; gappy: string } {
  project.write('.acor/config.yaml', 'version: 1\nenvironment:\n  max_output_size: 100000000000\n');
  const messages = Array.from({ length: MESSAGES_IN_FILE }, (_, index) =>
    progressLine(BARE_RUN_ID, index).replace(BARE_RUN_ID, PLACEHOLDER),
  ).join('');
  for (const tool of [FAST, FLUSHING]) project.write(`tools/${tool}/messages.jsonl`, messages);
  const gaps = /"(?:v|ts|run_id)":(?:1|"[^"]*"),/g;
  project.write(
    `tools/${GAPPY}/messages.jsonl`,
    messages.replace(/.*/g, (line) => {
      const short = line.replaceAll(gaps, '');
      return short.replace(/"}$/, `${'x'.repeat(line.length - short.length)}"}`);
    }),
  );
  return {
    gappy: project.addTool(GAPPY, 'fast-producer.sh', 'version: 1.0.0\n'),
    fast: project.addTool(FAST, 'fast-producer.sh', 'version: 1.0.0\n'),
    flushing: project.addTool(FLUSHING, 'flushing-producer.py', 'version: 1.0.0\n'),
  };
}
