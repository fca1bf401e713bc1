import { writeFileSync } from 'node:fs';
import { TestProject } from './project.ts';

/** A pixel, and a sound of no length. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const CAPITAL = 'What is the capital of France?';
const RESULT = `echo '{"type":"result","status":"ok"}'`;
const picture = `base64 -d <<<${PNG} >"$ARTIFACTS_DIR/pixel.png"`;

const name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const ok = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const confirm = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] };

const DEFAULTS = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const three = (word: string) => [1, 2, 3].map((each) => `${word}${each}`);
const titled = (...titles: string[]) => titles.map((title, index) => ({ const: `value${index + 1}`, title }));
const CHOICES = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: three('option') },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option') },
    legacyEnum: {
      type: 'string',
      enum: three('opt'),
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: three('option') } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice') } },
  },
};

/** What the suite wants to see again word for word. */
const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const QUESTION = { type: 'action_required', audience: 'user', blocking: true, context: {} };

function question(id: string, schema: object, msg: string): string {
  return `echo '${JSON.stringify({ ...QUESTION, action: id, action_id: id, msg, schema })}'`;
}

const FOR_MODEL = { audience: 'model', context: { max_tokens: 100 } };
const FOR_CLIENT = { audience: 'client', action: 'roots' };

/** Asks several questions in one write, waits for as many answers, and returns the last one. */
function asksAll(...questions: ({ action_id: string } & Record<string, unknown>)[]): string {
  const lines = questions.map((each) => JSON.stringify({ ...QUESTION, action: each.action_id, ...each }));
  const reads = questions.map(() => 'read -r answer').join('\n');
  return `printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}\n${reads}\n${ANSWERED}`;
}

/** The line with the answer, as the data of the result. */
const ANSWERED = `echo '{"type":"result","status":"ok","data":'"$answer"'}'`;
const log = (msg: string) => `echo '${JSON.stringify({ type: 'log', level: 'info', msg })}'`;

function asks(id: string, schema: object, msg = id): string {
  return `${question(id, schema, msg)}\nread -r answer`;
}

/** Each tool of the suite that a command-line tool can be: what its manifest adds, and its script. */
const TOOLS: Readonly<Record<string, { manifest?: object; script: string }>> = {
  test_simple_text: {
    manifest: { adapter: 'plain' },
    script: 'echo "This is a simple text response for testing."',
  },
  test_image_content: { script: `${picture}\n${RESULT}` },
  test_audio_content: { script: `base64 -d <<<${WAV} >"$ARTIFACTS_DIR/sound.wav"\n${RESULT}` },
  test_embedded_resource: { script: `echo embedded >"$ARTIFACTS_DIR/note.txt"\n${RESULT}` },
  test_multiple_content_types: {
    script: `${picture}\necho '{"test":"data","value":123}' >"$ARTIFACTS_DIR/data.json"\n${RESULT}`,
  },
  test_error_handling: {
    script: `echo '{"type":"error","code":"E_UNKNOWN","msg":"This tool intentionally returns an error"}'\nexit 30`,
  },
  test_tool_with_progress: {
    script: `for pct in 0 50 100; do\n  echo '{"type":"progress","step":"work","pct":'$pct'}'\n  sleep 0.05\ndone\n${RESULT}`,
  },
  test_elicitation: {
    manifest: { actions: ['ask'], inputs: [{ name: 'message', required: true }] },
    script: `${asks('ask', { type: 'object', properties: { username: { type: 'string' }, email: { type: 'string' } }, required: ['username', 'email'] })}\n${RESULT}`,
  },
  test_elicitation_sep1034_defaults: {
    manifest: { actions: ['ask'] },
    script: `${asks('ask', DEFAULTS)}\n${RESULT}`,
  },
  test_elicitation_sep1330_enums: {
    manifest: { actions: ['ask'] },
    script: `${asks('ask', CHOICES)}\n${RESULT}`,
  },
  test_input_required_result_elicitation: {
    manifest: { actions: ['user_name'] },
    script: `${asks('user_name', name, 'What is your name?')}\n${RESULT}`,
  },
  test_input_required_result_request_state: {
    manifest: { actions: ['confirm'] },
    script: `${asks('confirm', ok, 'Please confirm')}\necho '{"type":"result","status":"ok","data":"state-ok"}'`,
  },
  test_input_required_result_multi_round: {
    manifest: { actions: ['step1', 'step2'] },
    script: `${asks('step1', name)}\n${asks('step2', { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] })}\n${RESULT}`,
  },
  test_input_required_result_tampered_state: {
    manifest: { actions: ['confirm'] },
    script: `${asks('confirm', ok)}\n${RESULT}`,
  },
  test_streaming_elicitation: {
    manifest: { actions: ['ask'] },
    script: `${asks('ask', ok)}\n${RESULT}`,
  },
  test_logging_tool: { script: `${log('it works')}\n${RESULT}` },
  test_tool_with_logging: {
    script: ['Tool execution started', 'Tool processing data', 'Tool execution completed']
      .map(log)
      .concat(RESULT)
      .join('\nsleep 0.05\n'),
  },
  test_missing_capability: { manifest: { requires: ['sampling'] }, script: RESULT },
  test_sampling: {
    manifest: { actions: ['complete'], inputs: [{ name: 'prompt', required: true }] },
    script: asksAll({ ...FOR_MODEL, action_id: 'complete', msg: 'Test prompt for sampling' }),
  },
  test_input_required_result_sampling: {
    manifest: { actions: ['capital_question'] },
    script: asksAll({ ...FOR_MODEL, action_id: 'capital_question', msg: CAPITAL }),
  },
  test_input_required_result_list_roots: {
    manifest: { actions: ['roots'] },
    script: asksAll({ ...FOR_CLIENT, action_id: 'client_roots' }),
  },
  test_input_required_result_multiple_inputs: {
    manifest: { actions: ['user_name', 'greeting', 'roots'] },
    script: asksAll(
      { action_id: 'user_name', msg: 'What is your name?', schema: name },
      { ...FOR_MODEL, action_id: 'greeting', msg: 'Generate a greeting' },
      { ...FOR_CLIENT, action_id: 'client_roots' },
    ),
  },
  test_input_required_result_capabilities: {
    manifest: { actions: ['user_name', 'greeting'] },
    script: asksAll(
      { action_id: 'user_name', msg: 'What is your name?', schema: name },
      { ...FOR_MODEL, action_id: 'greeting', msg: 'Generate a greeting' },
    ),
  },
  // What changes the project is the test: a tool may not change the tools and prompts of its project.
  test_trigger_tool_change: { script: RESULT },
  test_trigger_prompt_change: { script: RESULT },
  template_data: {
    manifest: { effects: 'reads', inputs: [{ name: 'id', required: true }] },
    script: `echo '{"type":"result","status":"ok","data":{"id":"'"$2"'","templateTest":true,"data":"Data for ID: '"$2"'"}}'`,
  },
  protocol_error_job: { script: 'sleep 1\nkill -SEGV $$' },
  test_tool_with_task: {
    manifest: { actions: ['user_name'] },
    script: asksAll({ action_id: 'user_name', msg: 'What is your name?', schema: name }),
  },
  test_headers: {
    manifest: {
      input_schema: {
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
        required: ['region'],
      },
    },
    script: RESULT,
  },
  json_schema_2020_12_tool: { manifest: { input_schema: SCHEMA_2020_12 }, script: RESULT },
  greet: {
    manifest: { inputs: [{ name: 'name', required: true }], timeout_s: 15 },
    script: `echo '{"type":"result","status":"ok","data":"Hello, World!"}'`,
  },
  slow_compute: {
    manifest: { inputs: [{ name: 'seconds', type: 'number', default: 1 }, { name: 'label' }] },
    script: `sleep "$2"\n${RESULT}`,
  },
  failing_job: {
    script: `sleep 1\necho '{"type":"error","code":"E_UNKNOWN","msg":"it fails"}'\nexit 30`,
  },
  confirm_delete: {
    manifest: { actions: ['confirm'], inputs: [{ name: 'filename', required: true }] },
    script: `${asks('confirm', confirm)}\n${RESULT}`,
  },
  multi_input: {
    manifest: { actions: ['first', 'second'] },
    script: `${question('first', confirm, 'first')}\n${question('second', confirm, 'second')}\nread -r one\nread -r two\n${RESULT}`,
  },
};

/** The prompts of the suite, as files of the project. */
const PROMPTS: Readonly<Record<string, string>> = {
  test_simple_prompt: 'This is a simple prompt for testing.\n',
  test_prompt_with_arguments: `---
arguments:
  - { name: arg1, required: true, description: First test argument, values: [paris, park, test-1, test-2] }
  - { name: arg2, required: true, description: Second test argument }
---
Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'
`,
  test_prompt_with_embedded_resource: `---
arguments: [{ name: resourceUri, required: true, description: URI of the resource to embed }]
---
![the resource]({{resourceUri}})

Please process the embedded resource above.
`,
  test_prompt_with_image: `![a pixel](pixel.png)\n\nPlease analyze the image above.\n`,
  test_input_required_result_prompt: `---
arguments: [{ name: context, ask: What context should the prompt use? }]
---
Use this context: {{context}}
`,
};

/** The resources of the suite: files of the project, and what a tool returns. */
const RESOURCES = [
  { uri: 'test://static-text', files: 'data/static.txt' },
  { uri: 'test://static-binary', files: 'data/pixel.png' },
  { uri: 'test://example-resource', files: 'data/example.txt' },
  { uri: 'test://watched-resource', files: 'data/watched.txt' },
  { uri: 'test://template/{id}/data', tool: 'template_data', mime_type: 'application/json' },
];

/** A project whose command-line tools carry the names that the conformance suite of MCP calls. */
export function conformanceProject(): TestProject {
  const project = new TestProject();
  for (const [tool, { manifest, script }] of Object.entries(TOOLS)) {
    const file = { name: tool, version: '1.0.0', description: `The suite's ${tool}.`, ...manifest };
    project.write(`tools/${tool}/tool.yaml`, `${JSON.stringify(file)}\n`);
    project.write(`tools/${tool}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
  }
  for (const [prompt, text] of Object.entries(PROMPTS)) project.write(`.acor/prompts/${prompt}.md`, text);
  project.write('.acor/config.yaml', `version: 1\nresources: ${JSON.stringify(RESOURCES)}\n`);
  project.write('data/static.txt', 'This is the content of the static text resource.');
  project.write('data/example.txt', 'Embedded resource content for testing.');
  project.write('data/watched.txt', 'watched');
  for (const path of ['data/pixel.png', '.acor/prompts/pixel.png'])
    writeFileSync(project.path(path), Buffer.from(PNG, 'base64'));
  return project;
}

/** What the diagnostic tools of the suite stand for, done as a developer would: a new tool, a new prompt. */
export function changeProject(project: TestProject, called: string): void {
  const name = `new_${Date.now()}_${Math.random().toString(36).slice(2)}`;
  if (called === 'test_trigger_tool_change')
    project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${RESULT}\n`, 0o755);
  if (called === 'test_trigger_prompt_change') project.write(`.acor/prompts/${name}.md`, 'A new prompt.\n');
}
