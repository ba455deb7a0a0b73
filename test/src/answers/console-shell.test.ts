/**
 * The frame of the console in a real browser: it finds the API beside itself below any prefix,
 * asks for a log-in where it must, and shows the pages that the server can fill.
 */
import { expect, it } from 'vitest';
import { lacksBrowser, screenshot, useBrowser } from '../harness/browser.js';
import { useConsoleProxy } from '../harness/console-proxy.js';
import { useServingEnsemble } from '../harness/ensemble.js';

const open = useBrowser();

it.skipIf(lacksBrowser)('shows its pages below a prefix, and says what is read-only', async () => {
  const settings = { adminReadOnly: true };
  const { members } = await useServingEnsemble({ size: 1, operated: true, settings });
  const { address } = await useConsoleProxy(members[0]?.adminPort ?? 0, '/ops/rookery');
  const page = await open(address);
  const links = page.getByRole('navigation').getByRole('link');
  await expect.poll(() => links.allTextContents()).toContain('Sessions');
  await page.getByText('Read-only', { exact: true }).waitFor();
  await screenshot(page, 'shell-read-only');
});
