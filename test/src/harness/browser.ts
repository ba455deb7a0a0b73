/**
 * A real browser for the tests of the console: Debian's Chromium, driven by playwright-core.
 *
 * One browser serves a file of tests, and each test gets a context of its own, with nothing stored.
 * What a page logs as an error, what it throws and what its Content-Security-Policy refuses fails
 * the test. Screenshots are kept in test/out/console. Where Chromium is missing the tests are
 * skipped, unless ROOKERY_REQUIRE_FOREIGN is 1.
 */
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import { mayLack } from './foreign.js';
import { REPOSITORY } from './product.js';

export const CHROMIUM = '/usr/bin/chromium';
/** For `describe.skipIf` and `it.skipIf`. */
export const lacksBrowser = mayLack(CHROMIUM);

const SCREENSHOTS = join(REPOSITORY, 'test/out/console');
/** Generous: the machine may be busy with other tests. */
const ACTION_DEADLINE_MS = 30_000;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export type ColorScheme = 'light' | 'dark';

export interface OpenOptions {
  readonly colorScheme?: ColorScheme;
  readonly width?: number;
  readonly height?: number;
  /** Errors in the page's console that the test provokes, such as of an answer 412. */
  readonly expectedErrors?: RegExp;
}

/** A browser for the tests of this file, started when the first one needs it. */
export function useBrowser(): (url: string, options?: OpenOptions) => Promise<Page> {
  let browser: Promise<Browser> | undefined;
  afterAll(async () => {
    await (await browser)?.close();
  });
  return async (url, options = {}) => {
    browser ??= chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    });
    const { colorScheme = 'light', width = 1280, height = 800 } = options;
    const context = await (await browser).newContext({ colorScheme, viewport: { width, height } });
    context.setDefaultTimeout(ACTION_DEADLINE_MS);
    return await openPage(context, url, options);
  };
}

async function openPage(
  context: BrowserContext,
  url: string,
  { expectedErrors }: OpenOptions,
): Promise<Page> {
  const page = await context.newPage();
  const errors: string[] = [];
  const note = (text: string): void => {
    if (expectedErrors?.test(text) !== true) errors.push(text);
  };
  page.on('pageerror', (error) => note(`thrown: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') note(`${message.text()} ${message.location().url}`);
  });
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await screenshot(page, `failed-${task.name.slice(0, 40)}`);
    await context.close();
    expect(errors, 'what the page reported as errors').toEqual([]);
  });
  await page.goto(url);
  return page;
}

/** Keeps what the page shows in test/out/console/NAME.png. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name.replace(/[^\w-]+/g, '-')}.png`) });
}

export interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly targets: readonly string[];
}

/** What axe-core finds serious or critical on the page as it is. */
export async function seriousViolations(page: Page): Promise<readonly Violation[]> {
  // The page's policy forbids scripts of others; the protocol of the debugger does not ask it.
  if (!(await page.evaluate(() => 'axe' in globalThis))) {
    const { readFile } = await import('node:fs/promises');
    await page.evaluate(await readFile(AXE, 'utf8'));
  }
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, impact, nodes }) => ({
        id,
        impact,
        targets: nodes.map(
          ({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`,
        ),
      }));
  });
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly {
      readonly target: readonly string[];
      readonly failureSummary: string;
    }[];
  }[];
}
