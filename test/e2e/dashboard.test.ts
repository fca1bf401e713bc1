import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NO_BROWSER, type SignedIn, TestBrowser, violationsOf } from '../support/browser.ts';
import { TestServer } from '../support/http-server.ts';
import { ROOT, TestProject, until } from '../support/project.ts';

/** More rows than a browser lets an element be high, so that the scroll bar is scaled. */
const MANY = 1_000_000;
const HTML = '<img src=x onerror="window.harmed = true"><script>window.harmed = true</script>';
/** What a page has when its data have come. */
const LOADED: Readonly<Record<string, string>> = {
  ...{
    inbox: 'article',
    runs: 'table, [role=log]',
    tools: 'main li, form',
    workflows: 'main li',
    schedules: 'article, .command',
    costs: 'main p',
    health: '.checks',
  },
};
const ALLOW = ['answer', 'run', 'cancel', 'schedule pause', 'schedule resume'].flatMap((word) => [
  '--http-allow',
  word,
]);

describe('the dashboard', { skip: NO_BROWSER }, () => {
  let project: TestProject;
  let server: TestServer;
  let browser: TestBrowser;
  let user: SignedIn;

  before(async () => {
    project = new TestProject({
      tools: ['quick', 'asks', 'many_events', 'right_hash'],
      config: 'version: 1\nenvironment: { cancel_grace_s: 0.3, max_output_size: 300000000 }\n',
    });
    project.write(
      'workflows/flow.yaml',
      'steps: [{ name: a, tool: quick }, { name: b, tool: quick, needs: [a] }]\n',
    );
    project.write(
      'tools/hostile/tool.yaml',
      `version: 1.0.0\ndescription: ${JSON.stringify(`\u001b[31m${HTML}`)}\nactions: [go]\n`,
    );
    const question = {
      ...{
        type: 'action_required',
        action: `go ${HTML}`,
        action_id: 'q',
        blocking: true,
        msg: `\u001b[31mred ${HTML}`,
      },
      context: { [HTML]: HTML },
      options: [{ id: HTML, label: HTML, description: HTML }],
    };
    const lines = [{ type: 'log', level: 'info', msg: `\u001b]0;title\u0007\u001b[31m${HTML}` }, question];
    project.write(
      'tools/hostile/cli.sh',
      `#!/bin/bash\necho ${quoted(HTML)} > "$ARTIFACTS_DIR"/${quoted('<b>page<')}.html\necho ${quoted(HTML)} >&2\n${lines
        .map((line) => `echo ${quoted(JSON.stringify(line))}\n`)
        .join('')}read -r answer\nexit 3\n`,
      0o755,
    );
    project.write(
      'tools/spends/cli.sh',
      `#!/bin/bash\necho '{"v":1,"type":"result","status":"ok","metrics":{"cost_usd":0.25,"input_tokens":1000,"output_tokens":10}}'\n`,
      0o755,
    );
    await project.acor(['schedule', 'add', 'quick', '--cron', '0 3 1 1 *', '--name', 'yearly']);
    [server, browser] = await Promise.all([TestServer.start(project, ALLOW), TestBrowser.start()]);
    user = await browser.signIn(server.link);
  });
  after(async () => {
    await browser.close();
    await server.stop();
    for (const run of project.runIds()) await project.acor(['cancel', run]);
    await project.supervisorsExited();
    project[Symbol.dispose]();
  });

  async function startRun(...args: string[]): Promise<string> {
    return (await project.envelope(['run', ...args, '--detach'])).data.run_id;
  }

  async function askingRun(): Promise<string> {
    const run = await startRun('asks');
    await until(() => project.record(run)?.state === 'waiting_ai');
    return run;
  }

  const answerOf = (run: string) => project.events(run).find(({ type }) => type === 'action_answered');

  it('signs one browser in by its link, once, with a cookie that no script and no other site gets', async () => {
    const [cookie] = await user.context.cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict']);
    assert.equal(new URL(user.page.url()).search, '');
    const other = await browser.signIn(server.link);
    await other.page.getByText('open the link that acor serve printed').waitFor();
    assert.deepEqual(await other.context.cookies(), []);
    await other.context.close();
  });

  it('answers questions with keys alone, and goes to the next one', async () => {
    const { page } = user;
    await page.goto(`${server.url}#/inbox`);
    const first = await askingRun();
    const second = await askingRun();
    await page.locator('article').nth(1).waitFor();
    await untilTitle(page, '(2) ACOR');
    await page.keyboard.press('n');
    await page.keyboard.press('2');
    await page.keyboard.press('Enter');
    await until(() => answerOf(first) !== undefined);
    assert.deepEqual([answerOf(first)!['answer'], answerOf(first)!['source']], ['fast', 'http']);
    await untilTitle(page, '(1) ACOR');
    await page.keyboard.press('n');
    await page.keyboard.press('1');
    await page.keyboard.press('Enter');
    await until(() => answerOf(second) !== undefined);
    assert.equal(answerOf(second)!['answer'], 'slow');
    await page.getByText('No run waits for an answer.').waitFor();
    await untilTitle(page, 'ACOR');
  });

  it('shows how old a question is, also while nothing changes', async () => {
    const run = await askingRun();
    const age = user.page.getByRole('article').locator('time').first();
    const [first] = await age.allInnerTexts();
    await until(async () => (await age.innerText()) !== first);
    await project.envelope(['cancel', run]);
    // The next test waits for the card of its own question.
    await user.page.getByRole('article').waitFor({ state: 'detached' });
  });

  it('says who answered a question meanwhile', async () => {
    const run = await askingRun();
    await user.page.getByRole('article').waitFor();
    await project.envelope(['answer', run, '--choice', 'slow', '--by', 'Grace']);
    await user.page.getByText('choose_speed was answered meanwhile by Grace: slow.').waitFor();
  });

  it('shows a run with its steps, its log and its artifacts, and runs a tool from a form', async () => {
    const { page } = user;
    await page.goto(`${server.url}#/tools/asks`);
    await page.getByLabel('timeout_s').fill('300');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: /^asks waiting/ }).waitFor();
    const run = new URL(page.url()).hash.replace('#/runs/', '');
    assert.deepEqual(project.record(run)?.state, 'waiting_ai');
    await page.getByText('Commands', { exact: true }).click();
    await page.getByText(`acor answer ${run} a-1 --choice slow`).waitFor();
    await page.getByRole('button', { name: /Cancel/ }).click();
    await page.getByRole('heading', { name: /^asks cancelled/ }).waitFor();
    const flow = (await project.envelope(['workflow', 'run', 'flow', '--no-stream'])).data.run_id;
    await page.goto(`${server.url}#/runs/${flow}`);
    await page.getByRole('link', { name: 'Its graph' }).click();
    await page.getByText('completed').nth(1).waitFor();
    const made = String((await project.run(['right_hash'])).end['run_id']);
    await page.goto(`${server.url}#/runs/${made}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('a[download]').first().click(),
    ]);
    assert.equal(await download.failure(), null);
  });

  it('shows the schedules, pauses one, and shows what the runs of a day have cost', async () => {
    const { page } = user;
    await page.goto(`${server.url}#/schedules`);
    await page.getByRole('heading', { name: 'yearly active' }).waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'yearly paused' }).waitFor();
    const { data } = await project.envelope(['schedule', 'show', 'yearly']);
    assert.equal(data.state, 'paused');
    await page.getByRole('button', { name: 'Resume', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'yearly active' }).waitFor();
    await project.run(['spends']);
    await page.goto(`${server.url}#/costs?by=tool`);
    await page.getByRole('row', { name: /^spends \$0\.25 1010 / }).waitFor();
    assert.equal(await page.locator('tbody .bar').count(), 2);
  });

  it('shows the states of a run, its attempts and its steps on one scale', async () => {
    const { page } = user;
    const run = await askingRun();
    await page.goto(`${server.url}#/runs/${run}`);
    const rows = page.getByRole('region', { name: 'Timeline' }).getByRole('row');
    await rows.filter({ hasText: /asks .*waiting/ }).waitFor();
    await project.envelope(['answer', run, '--choice', 'fast']);
    await project.envelope(['wait', run]);
    await rows.filter({ hasText: 'attempt 1' }).nth(1).waitFor();
    const flow = (await project.envelope(['workflow', 'run', 'flow', '--no-stream'])).data.run_id;
    await page.goto(`${server.url}#/runs/${flow}`);
    await rows
      .filter({ hasText: /^quick\s*completed/ })
      .nth(1)
      .waitFor();
    assert.equal(await rows.filter({ hasText: 'quick' }).getByRole('link').count(), 2);
  });

  it('shows a long log by windows: its end, single steps, a search, and a link to a line', async () => {
    const { page } = user;
    const run = String(
      (await project.envelope(['run', 'many_events', String(MANY), '--no-stream'])).data.run_id,
    );
    const total = project.events(run).length;
    await page.goto(`${server.url}#/runs/${run}`);
    const log = page.getByRole('log');
    await page.getByText(`of ${total}`).waitFor();
    assert.ok((await log.locator('.row').count()) < 100);
    await log.press('End');
    await log.getByText('completed').last().waitFor();
    await page.getByText(`–${total} of ${total}`).waitFor();
    for (let step = 1; step <= 3; step++) {
      await log.press('ArrowUp');
      await page.getByText(`–${total - step} of ${total}`).waitFor();
    }
    await page.goto(`${server.url}#/runs/${run}?seq=500000`);
    await log.locator('.row.marked').filter({ hasText: '500000' }).waitFor();
    await page.getByLabel('Search the log').fill('"pct":75,');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText(/Found in \d+/).waitFor();
    await log.getByText('75 %').first().waitFor();
  });

  it('shows what a tool writes as text, whatever it is', async () => {
    const { page, problems } = user;
    const run = await startRun('hostile');
    await until(() => project.record(run)?.state === 'waiting_ai');
    for (const path of [
      'inbox',
      'tools',
      'tools/hostile',
      `runs/${run}`,
      'runs',
      `runs?text=${encodeURIComponent(HTML)}`,
      'nothing',
      '%E0%A4%A',
    ]) {
      await page.goto(`${server.url}#/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      if (path === 'inbox' || path === `runs/${run}`) await page.getByText('onerror').first().waitFor();
      assert.doesNotMatch(await page.locator('body').innerText(), /\u001b/);
    }
    await page.goto(`${server.url}#/runs/${run}`);
    await page.getByRole('radio').check();
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByRole('heading', { name: /^hostile failed/ }).waitFor();
    assert.equal(await page.evaluate(() => 'harmed' in globalThis), false);
    assert.equal(await page.locator('img, main script').count(), 0);
    assert.deepEqual(problems, []);
  });

  it('looks as the documentation shows it', async () => {
    const { page } = user;
    const run = await askingRun();
    for (const [name, path, colorScheme] of [
      ['inbox', 'inbox', 'light'],
      ['runs', 'runs', 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      // A new page, without the notices of the tests before.
      await page.goto('about:blank');
      await page.goto(`${server.url}#/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator(LOADED[path]!).first().waitFor();
      const picture = await page.screenshot();
      assert.equal(picture.subarray(1, 4).toString(), 'PNG');
      if (process.env['ACOR_WRITE_PICTURES'])
        writeFileSync(join(ROOT, 'docs', `dashboard-${name}.png`), picture);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await project.envelope(['cancel', run]);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no fault that an audit of accessibility finds, ${colorScheme}, also on a phone`, async () => {
      const { page } = user;
      const run = await askingRun();
      await page.emulateMedia({ colorScheme });
      for (const path of [
        'inbox',
        'runs',
        `runs/${run}`,
        'tools',
        'tools/asks',
        'workflows',
        'workflows/flow',
        'schedules',
        'costs',
        'health',
      ]) {
        await page.goto(`${server.url}#/${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator(LOADED[path.split('/').at(0)!]!).first().waitFor();
        assert.deepEqual(await violationsOf(page), [], path);
      }
      await page.setViewportSize({ width: 360, height: 740 });
      for (const path of ['inbox', 'runs', `runs/${run}`, 'workflows/flow', 'schedules', 'costs']) {
        await page.goto(`${server.url}#/${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        assert.equal(isTooWide, false, path);
      }
      await page.setViewportSize({ width: 1280, height: 720 });
      await project.envelope(['cancel', run]);
    });
  }

  it('keeps ten tabs up to date with one stream, over a restart of the server', async () => {
    const { context } = user;
    const tabs = await Promise.all(Array.from({ length: 10 }, () => context.newPage()));
    await Promise.all(tabs.map((tab) => tab.goto(`${server.url}#/inbox`)));
    await Promise.all(tabs.map((tab) => tab.getByText('No run waits for an answer.').waitFor()));
    const { port } = server;
    server.running.child.kill('SIGKILL');
    await server.running.finished;
    await Promise.all(tabs.map((tab) => tab.getByText('Not connected').waitFor()));
    const run = await askingRun();
    server = await TestServer.start(project, ALLOW, port);
    await Promise.all(tabs.map((tab) => tab.getByRole('article').waitFor()));
    for (const tab of tabs) assert.equal(await tab.getByRole('article').count(), 1);
    await project.envelope(['answer', run, '--choice', 'slow', '--by', 'Ada']);
    await Promise.all(tabs.map((tab) => tab.getByText('answered meanwhile by Ada').waitFor()));
    await Promise.all(tabs.map((tab) => tab.close()));
  });
});

function untilTitle(page: SignedIn['page'], title: string): Promise<void> {
  return until(async () => (await page.title()) === title);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
