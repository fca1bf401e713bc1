import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { TestServer } from '../support/http-server.ts';
import { TestProject, until } from '../support/project.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

/** Appends what it gets on its standard input to a log. Its argument names no file: a file that a program names is a part of what is trusted. */
const KEEPS = '#!/bin/bash\ncat >> "$1.log"\n';
/** The interface of every mail system: reads a message, and answers with its exit code. */
const SENDMAIL = '#!/bin/bash\necho "$@" >> "$HOME/sendmail-arguments"\ncat >> "$HOME/mail"\n';

let project: TestProject;
let hook: WebhookReceiver | undefined;
let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  await project.supervisorsExited();
  // A process that delivers holds the lock; a server that was stopped leaves it.
  if (server === undefined) await until(() => !existsSync(project.path('.runs/outbox/deliver.lock')));
  await hook?.stop();
  [server, hook] = [undefined, undefined];
  project[Symbol.dispose]();
});

/** A trusted project with these receivers. */
async function projectWith(notify: readonly object[], isTrusted = true): Promise<void> {
  const config = { version: 1, project: { name: 'test' }, environment: { cancel_grace_s: 0.3 }, notify };
  project = new TestProject({ tools: ['asks', 'quick'], config: JSON.stringify(config), isTrusted });
  project.write('keeps.sh', KEEPS, 0o755);
  project.write('tools/fails/cli.sh', '#!/bin/bash\nexit 30\n', 0o755);
}

async function projectWithHook(more: object = {}): Promise<WebhookReceiver> {
  hook = await WebhookReceiver.start();
  await projectWith([{ webhook: { url: hook.url, secret: 'HOOK' }, ...more }]);
  await project.acor(['secret', 'set', 'HOOK'], { stdin: hook.key });
  return hook;
}

async function asking(): Promise<string> {
  const { data } = await project.envelope(['run', 'asks', '--detach']);
  await until(() => project.record(data.run_id)?.state === 'waiting_ai');
  return data.run_id;
}

const kept = (path: string) =>
  existsSync(project.path(path)) ? readFileSync(project.path(path), 'utf8') : '';

describe('notify', () => {
  it('sends a signed webhook when a run asks and when it ends, each once, with the commands that lead on', async () => {
    const { received, problems } = await projectWithHook({ on: ['question', 'end'] });
    const run = await asking();
    await until(() => received.length === 1);
    const [question] = received;
    assert.deepEqual(
      [question!.type, question!.data.run_id, question!.data.action, question!.data.tool],
      ['run.question', run, 'choose_speed', 'asks'],
    );
    assert.deepEqual(question!.data.next[0], `acor answer ${run} a-1 --choice slow`);
    assert.ok(Date.parse(question!.data.deadline) > Date.now());
    await project.envelope(['answer', run, '--choice', 'fast']);
    await until(() => received.length === 2);
    assert.deepEqual([received[1]!.type, received[1]!.data.state], ['run.ended', 'completed']);
    // Everything is delivered, so that the run leaves the outbox, and nothing is sent again.
    await until(() => !existsSync(project.path('.runs/outbox', run)));
    assert.deepEqual((await project.envelope(['outbox'])).data.sent, []);
    assert.deepEqual([received.length, problems], [2, []]);
  });

  it('loses nothing while a receiver is dead, delays no run, and delivers later under the same id', async () => {
    const first = await projectWithHook({ on: ['end'] });
    first.status = 500;
    const { code } = await project.run(['quick']);
    assert.equal(code, 0);
    const run = project.runIds()[0]!;
    await until(() => existsSync(project.path('.runs/outbox/receivers.json')));
    const { data } = await project.envelope(['outbox', '--dry-run']);
    assert.equal(data.receivers[0].error, 'it answered 500');
    const health = await project.envelope(['health']);
    const checks = (health.data ?? health.error.details).checks as { name: string; status: string }[];
    assert.equal(checks.find(({ name }) => name === 'notify')?.status, 'degraded');
    first.status = 204;
    while (first.received.length === 0) await project.envelope(['outbox']);
    await until(() => !existsSync(project.path('.runs/outbox', run)));
    assert.deepEqual(
      first.received.map(({ id }) => id.startsWith(`${run}_ended_`)),
      [true],
    );
  });

  it('does not follow a redirect with a signed message', async () => {
    const receiver = await projectWithHook({ on: ['end'] });
    receiver.status = 307;
    await project.run(['quick']);
    await until(() => existsSync(project.path('.runs/outbox/receivers.json')));
    assert.deepEqual(receiver.received, []);
    receiver.status = 204;
    await until(() => receiver.received.length === 1);
  });

  it('starts a program and sends mail; failures only, where that is asked for', async () => {
    await projectWith([
      { program: ['./keeps.sh', 'messages'], on: ['failure'] },
      { mail: { to: ['ada@example.com'], from: 'acor@example.com' }, on: ['failure'] },
    ]);
    project.write('bin/sendmail', SENDMAIL, 0o755);
    const env = { HOME: project.root, PATH: `${project.path('bin')}:${process.env.PATH}` };
    await project.run(['quick'], { env });
    await project.run(['fails'], { env });
    await until(() => kept('messages.log') !== '' && kept('mail').includes('base64'));
    await until(() => readdirSync(project.path('.runs/outbox')).every((name) => !name.startsWith('r-')));
    const [message, ...more] = kept('messages.log').trim().split('\n');
    assert.deepEqual(more, []);
    const { type, data } = JSON.parse(message!);
    assert.deepEqual([type, data.tool, data.state], ['run.ended', 'fails', 'failed']);
    const mail = kept('mail');
    assert.match(mail, /^To: ada@example\.com\nFrom: acor@example\.com\nSubject: \[acor\] fails failed/);
    assert.equal(kept('sendmail-arguments'), '-t -i\n');
    const text = Buffer.from(mail.split('\n\n')[1]!, 'base64').toString();
    assert.match(text, new RegExp(`run_id: ${data.run_id}`));
  });

  it('keeps line breaks and controls of a tool out of the headers of mail', async () => {
    await projectWith([{ mail: { to: ['ada@example.com'] }, on: ['question'] }]);
    project.write('bin/sendmail', SENDMAIL, 0o755);
    const question = {
      type: 'action_required',
      action: 'x',
      action_id: 'q',
      blocking: true,
      msg: 'hello\r\nBcc: eve@example.com\u001b[31m\u00e9',
    };
    project.write('tools/evil/tool.yaml', 'name: evil\nversion: 1.0.0\nactions: [x]\n');
    project.write('tools/evil/question', `${JSON.stringify(question)}\n`);
    project.write(
      'tools/evil/cli.sh',
      '#!/bin/bash\ncat "$(dirname "$0")/question"\nread -r answer\necho \'{"type":"result","status":"ok"}\'\n',
      0o755,
    );
    const env = { HOME: project.root, PATH: `${project.path('bin')}:${process.env.PATH}` };
    const { data } = await project.envelope(['run', 'evil', '--detach'], { env });
    await until(() => kept('mail').includes('base64'));
    await project.envelope(['cancel', data.run_id]);
    assert.doesNotMatch(kept('mail'), /^Bcc|\u001b|\r/m);
    assert.match(kept('mail'), /^Subject: =\?utf-8\?B\?/m);
  });

  it('reminds of an open question and escalates it while acor serve runs, until it is answered', async () => {
    hook = await WebhookReceiver.start();
    await projectWith([
      { webhook: { url: hook.url, secret: 'HOOK' }, on: ['question'], remind_every_s: 0.3 },
      { program: ['./keeps.sh', 'escalated'], after_s: 0.3 },
    ]);
    await project.acor(['secret', 'set', 'HOOK'], { stdin: hook.key });
    server = await TestServer.start(project);
    const run = await asking();
    const { received } = hook;
    await until(() => received.length >= 3 && kept('escalated.log') !== '');
    assert.equal(new Set(received.map(({ id }) => id)).size, received.length);
    assert.equal(received[0]!.data.reminder, undefined);
    assert.ok(received.at(-1)!.data.reminder >= 2);
    await project.envelope(['answer', run, '--choice', 'fast']);
    await until(() => !existsSync(project.path('.runs/outbox', run)));
    assert.equal(kept('escalated.log').trim().split('\n').length, 1);
  });

  it('sends the end of a run whose supervisor was killed, when another process has recorded it', async () => {
    const receiver = await projectWithHook();
    const run = await asking();
    await until(() => receiver.received.length === 1);
    await project.killSupervisor(run);
    await project.envelope(['health', '--fix']);
    while (receiver.of('run.ended').length === 0) await project.envelope(['outbox']);
    assert.equal(receiver.of('run.ended')[0]!.data.code, 'E_RUNNER_LOST');
  });

  it('reports a question of a step once, as a question of the workflow', async () => {
    const { received } = await projectWithHook({ on: ['question', 'end'] });
    project.write('.acor/workflows/one.yaml', 'steps: [{ name: only, tool: asks }]\n');
    const { data } = await project.envelope(['workflow', 'run', 'one', '--detach']);
    await until(() => received.length === 1);
    assert.equal(received[0]!.data.run_id, data.run_id);
    await project.envelope(['answer', data.run_id, '--choice', 'fast']);
    await until(() => received.length === 2);
    await until(() => !existsSync(project.path('.runs/outbox', data.run_id)));
    assert.deepEqual(
      received.map(({ data: { run_id } }) => run_id),
      [data.run_id, data.run_id],
    );
  });

  it('sends a test to every receiver, and fails when one does not take it', async () => {
    const receiver = await projectWithHook();
    assert.equal((await project.envelope(['outbox', '--test'])).ok, true);
    assert.deepEqual(
      receiver.received.map(({ type }) => type),
      ['test'],
    );
    receiver.status = 404;
    const refused = await project.envelope(['outbox', '--test']);
    assert.deepEqual(
      [refused.error.code, refused.error.details.sent[0].error],
      ['E_NOT_READY', 'it answered 404'],
    );
  });

  it('names every receiver that does not take the test, and shows no secret that is a part of an address', async () => {
    hook = await WebhookReceiver.start();
    hook.status = 404;
    const { origin } = new URL(hook.url);
    await projectWith([
      { webhook: { url: `${origin}/services/s3cret?key=s3cret`, secret: 'HOOK' } },
      { program: ['./fails.sh', 'https://hooks.example.com/s3cret'] },
      { program: ['./keeps.sh', 'messages'] },
    ]);
    project.write('fails.sh', '#!/bin/sh\nexit 3\n', 0o755);
    await project.acor(['secret', 'set', 'HOOK'], { stdin: hook.key });
    const tested = await project.acor(['outbox', '--test']);
    const { message } = JSON.parse(tested.stdout).error;
    assert.match(message, new RegExp(`${origin} did not take the test: it answered 404; ./fails.sh did not`));
    assert.doesNotMatch(message, /keeps/);
    await project.run(['fails']);
    await until(() => Object.keys(JSON.parse(kept('.runs/outbox/receivers.json') || '{}')).length === 2);
    const health = await project.acor(['health']);
    const listed = await project.acor(['outbox', '--dry-run']);
    for (const { stdout } of [tested, health, listed]) {
      assert.doesNotMatch(stdout, /s3cret/);
      assert.ok(stdout.includes(origin) && stdout.includes('./fails.sh'), stdout);
    }
    // The process that delivers tries for five minutes.
    hook.status = 204;
    project.write('fails.sh', '#!/bin/sh\n', 0o755);
  });

  it('distinguishes receivers of one host and of one program by their place in the configuration', async () => {
    hook = await WebhookReceiver.start();
    hook.status = 404;
    const { origin } = new URL(hook.url);
    const at = (path: string) => ({ webhook: { url: `${origin}/${path}-s3cret`, secret: 'HOOK' } });
    await projectWith([
      at('one'),
      { program: ['./keeps.sh', 'one'] },
      { program: ['/bin/true'] },
      at('two'),
      { program: ['./keeps.sh', 'two'], after_s: 60 },
    ]);
    await project.acor(['secret', 'set', 'HOOK'], { stdin: hook.key });
    const tested = await project.acor(['outbox', '--test']);
    assert.doesNotMatch(tested.stdout, /s3cret/);
    const { receivers, sent } = JSON.parse(tested.stdout).error.details;
    const places = [
      `${origin} (notify[0])`,
      './keeps.sh (notify[1])',
      // The control: this one is alone.
      '/bin/true',
      `${origin} (notify[3])`,
      './keeps.sh (notify[4])',
    ];
    assert.deepEqual(
      receivers.map(({ target }: { target: string }) => target),
      places,
    );
    assert.deepEqual(
      sent.map(({ receiver }: { receiver: string }) => receiver),
      places,
    );
  });

  it('gives a receiver that is configured twice the events of both, once each', async () => {
    const program = ['./keeps.sh', 'messages'];
    await projectWith([
      { program, on: ['end', 'failure'] },
      { program, on: ['question', 'failure'] },
    ]);
    const { receivers } = (await project.envelope(['outbox'])).data;
    assert.deepEqual(
      receivers.map(({ target, on }: { target: string; on: string[] }) => [target, on]),
      [['./keeps.sh', ['end', 'failure', 'question']]],
    );
  });

  it('starts nothing that a cloned project names before a person trusts it', async () => {
    await projectWith([{ program: ['./keeps.sh', 'messages'], on: ['end'] }], false);
    const untrusted = await project.run(['quick']);
    assert.equal(untrusted.end.state, 'completed');
    assert.match(untrusted.stderr, /notify/);
    assert.equal(existsSync(project.path('.runs/outbox')), false);
    const listed = await project.envelope(['outbox']);
    assert.deepEqual(listed.data?.receivers, [], JSON.stringify(listed));
    project[Symbol.dispose]();
    // The control: the same project, trusted.
    await projectWith([{ program: ['./keeps.sh', 'messages'], on: ['end'] }]);
    await project.run(['quick']);
    await until(() => kept('messages.log') !== '');
  });

  it('refuses a receiver without a way, and one with two', async () => {
    await projectWith([{ on: ['end'] }, { program: ['x'], mail: { to: ['a@b'] } }]);
    const { error } = await project.envelope(['list']);
    assert.equal(error.code, 'E_CONFIG_INVALID');
    assert.match(JSON.stringify(error), /got none/);
    assert.match(JSON.stringify(error), /got program and mail/);
  });
});
