// An agent of a few lines: a model of any service that knows functions, and the tools of a project. Start it with
//   ACOR_MODEL_URL=http://127.0.0.1:8080/v1/responses bun examples/agent-loop.ts "Which order is the dearest?"
import { Acor, type FunctionTool } from 'acor';

interface Call {
  type: 'function_call';
  call_id: string;
  name: string;
  arguments: string;
}
interface Message {
  type: 'message';
  content: { text: string }[];
}
type Response = { id: string; output: (Call | Message)[] };

const tools: FunctionTool[] = await new Acor({ cwd: import.meta.dirname }).functionTools();
const definitions = tools.map(({ name, description, parameters }) => ({
  ...{ type: 'function', name, description, parameters },
}));

let input: object[] = [{ role: 'user', content: process.argv[2] ?? 'What can you do?' }];
for (let previous: string | undefined; input.length > 0; ) {
  const response = await ask({ input, tools: definitions, previous_response_id: previous });
  previous = response.id;
  input = [];
  for (const item of response.output) {
    if (item.type === 'message') process.stdout.write(`${item.content.map(({ text }) => text).join('')}\n`);
    else input.push(await carryOut(item));
  }
}

async function carryOut({ call_id, name, arguments: args }: Call): Promise<object> {
  const tool = tools.find((each) => each.name === name);
  const output = (await tool?.execute(JSON.parse(args))) ?? { state: 'refused', error: `no tool ${name}` };
  return { type: 'function_call_output', call_id, output: JSON.stringify(output) };
}

async function ask(body: object): Promise<Response> {
  const answer = await fetch(process.env['ACOR_MODEL_URL'] ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env['ACOR_MODEL_KEY']}` },
    body: JSON.stringify({ model: process.env['ACOR_MODEL'] ?? 'gpt-5', ...body }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Response;
}
