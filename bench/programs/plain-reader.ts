import { openSync, writeSync } from 'node:fs';

// A plain reader, to compare with: parses each line of stdin and appends what came to a file. It checks nothing and mirrors nothing.

const fd = openSync(process.argv[2]!, 'a');
const decoder = new TextDecoder();
let rest = '';
for await (const chunk of Bun.stdin.stream()) {
  const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
  rest = lines.pop()!;
  for (const line of lines) JSON.parse(line);
  writeSync(fd, chunk);
}
