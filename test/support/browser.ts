import { existsSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The browser of Debian, which `npm test` installs. */
const CHROMIUM = '/usr/bin/chromium';

/** Below that of a test, so that the error says what did not come. */
const TIMEOUT_MS = 60_000;

export const NO_BROWSER = !existsSync(CHROMIUM) && `${CHROMIUM} is not installed`;

/** One browser for the tests of a file; each context is a browser of its own with its own cookies. */
export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    // Its own sandbox does not work for root, and the pages are those of the tests.
    const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
    return new TestBrowser(await chromium.launch({ executablePath: CHROMIUM, args }));
  }

  /** A browser that the link has signed in, with its first page. */
  async signIn(link: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<SignedIn> {
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(TIMEOUT_MS);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('dialog', (dialog) => problems.push(`dialog: ${dialog.message()}`));
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) problems.push(message.text());
    });
    await page.goto(link);
    return { context, page, problems };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

export interface SignedIn {
  context: BrowserContext;
  page: Page;
  /** Errors, dialogs and violations of the policy that the page has caused. */
  problems: string[];
}

/** What an audit of accessibility finds in a page: the rule, and where. */
export async function violationsOf(page: Page): Promise<string[]> {
  // No page has a frame, for which the other mode opens a page more for each audit.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
