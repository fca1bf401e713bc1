/** What a hostile tool writes: shapes of output that are slow to read. */
export interface HostileShape {
  name: string;
  adapter?: 'markers' | 'plain';
  /** The tool has a secret, so that its output is redacted. */
  hasSecret?: boolean;
  /** The line that is repeated; it ends with a line break. */
  line(index: number): string | Buffer;
}

const MIB = 1 << 20;
/** A little less than the longest line that ACOR takes. */
const LONG = MIB - 100;

/** The value of the secret `S`, of which a tool can write all but the last byte. */
export const SECRET = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

const log = (msg: string) => `{"type":"log","level":"info","msg":${JSON.stringify(msg)}}\n`;
const digits = '7'.repeat(LONG);
const invalid = Buffer.from(`${'\xff\xfe\xc3'.repeat(100)}\n`, 'latin1');

export const HOSTILE_SHAPES: readonly HostileShape[] = [
  { name: 'lines of 1 MiB', line: () => log('x'.repeat(LONG)) },
  { name: 'lines of 2 MiB, which are cut', line: () => `${'x'.repeat(2 * MIB)}\n` },
  { name: 'lines of 2 bytes', line: () => 'x\n' },
  { name: 'messages of 15 bytes of an unknown type', line: (i) => `{"type":"${i % 100}"}\n` },
  {
    name: 'JSON nested half a million deep',
    line: () => `{"type":"log","record":${'['.repeat(LONG / 2)}${']'.repeat(LONG / 2)}}\n`,
  },
  {
    name: 'JSON nested 500 deep',
    line: () => `{"type":"log","record":${'['.repeat(500)}${']'.repeat(500)}}\n`,
  },
  {
    name: 'objects of 50,000 keys',
    line: () =>
      `{"type":"log","record":{${Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join(',')}}}\n`,
  },
  { name: 'numbers of a million digits', line: () => `{"type":"progress","step":"x","percent":${digits}}\n` },
  {
    name: 'markers with repetitions',
    adapter: 'markers',
    line: () => `[FILES_MODIFIED]\n-${' -'.repeat(20_000)}\n`,
  },
  { name: 'markers of 2 bytes', adapter: 'markers', line: () => '-\n' },
  { name: 'plain lines of 2 bytes', adapter: 'plain', line: () => 'x\n' },
  { name: 'invalid UTF-8', line: () => invalid },
  {
    name: 'lines full of the beginning of a secret',
    hasSecret: true,
    line: () => log(SECRET.slice(0, -1).repeat(20_000)),
  },
  { name: 'lines full of secrets', hasSecret: true, line: () => log(SECRET.repeat(20_000)) },
  { name: 'artifacts', line: (i) => `{"type":"artifact","path":"a${i}"}\n` },
  {
    name: 'results with 10,000 artifacts',
    line: () => `{"type":"result","status":"ok","artifacts":[${'"a",'.repeat(10_000)}"a"]}\n`,
  },
  {
    name: 'questions',
    line: (i) =>
      `{"type":"action_required","action":"ask","action_id":"q${i % 900}","blocking":${i % 2 === 0}}\n`,
  },
];
