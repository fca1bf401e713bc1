import { TestProject } from './project.ts';

/** A pixel, and a sound of no length. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

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

function question(id: string, schema: object, msg: string): string {
  const asked = { type: 'action_required', action: id, action_id: id, audience: 'user', blocking: true };
  return `echo '${JSON.stringify({ ...asked, msg, context: {}, schema })}'`;
}

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

/** A project whose command-line tools carry the names that the conformance suite of MCP calls. */
export function conformanceProject(): TestProject {
  const project = new TestProject();
  for (const [tool, { manifest, script }] of Object.entries(TOOLS)) {
    const file = { name: tool, version: '1.0.0', description: `The suite's ${tool}.`, ...manifest };
    project.write(`tools/${tool}/tool.yaml`, `${JSON.stringify(file)}\n`);
    project.write(`tools/${tool}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
  }
  return project;
}
