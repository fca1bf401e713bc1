import type { RunRecord } from '../../protocol/run-record.ts';

/** One run of a chain. `folder` is that of the run, with a separator at its end. */
export interface Link {
  run: RunRecord;
  folder: string;
}

/** The words that CEL does not accept as a name after a point. */
const RESERVED =
  /^(?:as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package|return|true|var|void|while)$/;

interface Draft {
  name: string;
  text: string;
}

/**
 * Writes a workflow that does what chains of the same tools did. A word that was the same each time stays, an artifact of an earlier step
 * is named as such, and any other word becomes an input; words that always changed together become one input.
 */
export function draftWorkflow(chains: readonly (readonly Link[])[]): Draft {
  const newest = chains.at(-1)!;
  const names = stepNames(newest.map(({ run }) => run.tool));
  const inputs = new Inputs();
  const steps = newest.map(({ run }, step) => {
    const all = chains.map((chain) => chain[step]!.run.given_args!);
    // Calls of another form than the newest say nothing about its words.
    const alike = chains.filter((_, at) => hasForm(all[at]!, all.at(-1)!));
    const args = run.given_args!.map((_, word) => wordOf(alike, { step, word, names, inputs }));
    return [`  - name: ${names[step]}`, `    tool: ${run.tool}`, `    args: ${JSON.stringify(args)}`].join(
      '\n',
    );
  });
  const name = newest.map(({ run }) => run.tool).join('-then-');
  const lines = [
    `# Drafted from ${chains.length} runs of these tools in this order. Read it before you run it.`,
    `name: ${JSON.stringify(name)}`,
    `description: ${JSON.stringify(`Runs ${newest.map(({ run }) => run.tool).join(', then ')}.`)}`,
    ...inputs.lines(),
    'steps:',
    ...steps,
  ];
  return { name, text: `${lines.join('\n')}\n` };
}

interface WordPlace {
  step: number;
  word: number;
  names: readonly string[];
  inputs: Inputs;
}

function wordOf(chains: readonly (readonly Link[])[], { step, word, names, inputs }: WordPlace): string {
  const values = chains.map((chain) => chain[step]!.run.given_args![word]!);
  const newest = chains.at(-1)!;
  const value = values.at(-1)!;
  const from = newest.slice(0, step).findIndex(({ folder }) => value.startsWith(`${folder}artifacts/`));
  if (from !== -1) {
    const file = value.slice(`${newest[from]!.folder}artifacts/`.length);
    return `\${steps[${JSON.stringify(names[from])}].artifacts[${JSON.stringify(file)}]}`;
  }
  if (values.every((each) => each === value)) return literal(value);
  const [, flag, joined] = /^(--?[^=]+=)?(.*)$/s.exec(value) ?? [];
  const before = newest[step]!.run.given_args![word - 1];
  const wanted = flag ?? (before?.startsWith('-') === true ? before : `${names[step]}_${word + 1}`);
  const texts = flag === undefined ? values : values.map((each) => each.slice(flag.length));
  return `${literal(flag ?? '')}\${${asMember('inputs', inputs.name(wanted, texts, joined ?? value))}}`;
}

/** Whether two calls have the same number of words and the same flags. */
function hasForm(args: readonly string[], other: readonly string[]): boolean {
  const formOf = (word: string) => (word.startsWith('-') ? word.split('=', 1)[0] : '');
  return args.length === other.length && args.every((word, at) => formOf(word) === formOf(other[at]!));
}

/** The inputs of the draft, by the values that they had in each chain. */
class Inputs {
  readonly #byValues = new Map<string, { name: string; last: string }>();

  name(wanted: string, values: readonly string[], last: string): string {
    const key = JSON.stringify(values);
    const known = this.#byValues.get(key);
    if (known !== undefined) return known.name;
    const taken = [...this.#byValues.values()].map(({ name }) => name);
    const plain = wanted.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '') || 'value';
    const base = /^[A-Za-z]/.test(plain) ? plain : `value_${plain}`;
    let name = base;
    for (let count = 2; taken.includes(name); count++) name = `${base}_${count}`;
    this.#byValues.set(key, { name, last });
    return name;
  }

  lines(): string[] {
    if (this.#byValues.size === 0) return [];
    const lines = [...this.#byValues.values()].map(
      ({ name, last }) =>
        `  ${name}: { type: string, required: true, description: ${JSON.stringify(`Such as ${last}`)} }`,
    );
    return ['inputs:', ...lines];
  }
}

/** Steps are named by their tools; one that runs twice gets a number. */
function stepNames(tools: readonly string[]): string[] {
  return tools.map((tool, at) => {
    const before = tools.slice(0, at).filter((each) => each === tool).length;
    return before === 0 ? tool : `${tool}_${before + 1}`;
  });
}

function asMember(map: string, name: string): string {
  return RESERVED.test(name) ? `${map}[${JSON.stringify(name)}]` : `${map}.${name}`;
}

function literal(word: string): string {
  return word.replaceAll('${', () => '$${');
}
