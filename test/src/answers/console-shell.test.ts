/**
 * The frame of the console in a real browser, below a prefix and for reading only: it finds the API
 * beside itself, and nothing that writes is on the page.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { lacksBrowser, screenshot, useBrowser } from '../harness/browser.js';
import { useConsoleServer } from '../harness/console-server.js';
import { create } from '../harness/operations.js';
import { REPOSITORY } from '../harness/product.js';
import { useClient } from '../harness/use-client.js';

const JAVASCRIPT_BYTES_MAX = 400_000;
const PREFIX = '/ops/rookery';

const open = useBrowser();
const server = useConsoleServer({ prefix: PREFIX, settings: { adminReadOnly: true } });

it.skipIf(lacksBrowser)('shows its pages below a prefix, and what is below a link', async () => {
  const { address, ensemble } = server();
  await create(await useClient(ensemble.member(1)), '/a', '{"b":1}');
  const page = await open(address);
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await expect.poll(() => links.allTextContents()).toContain('Sessions');
  await page.goto(`${address}#/node?path=/a`);
  await page.getByRole('heading', { name: 'a', exact: true }).waitFor();
  await page.getByRole('treeitem', { name: 'a', exact: true }).waitFor();
  await page.getByText('"b"').waitFor();
  expect(new URL(page.url()).pathname).toBe(`${PREFIX}/console/`);
});

it.skipIf(lacksBrowser)('has no control that writes where it is for reading only', async () => {
  const { address } = server();
  const page = await open(`${address}#/node?path=/`);
  const methods: string[] = [];
  page.on('request', (request) => methods.push(request.method()));
  await page.getByText('Read-only', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Export' }).waitFor();
  const writes = /^(new|edit|copy|move|delete|import|change the acl|create|save|remove)/i;
  for (const tab of ['Data', 'ACL', 'Changes']) {
    await page.getByRole('tab', { name: tab }).click();
    const names = await page.getByRole('button').allTextContents();
    const reads = ['Save as', 'Copy text'];
    const writing = names
      .map((name) => name.trim())
      .filter((name) => writes.test(name) && !reads.includes(name));
    expect(writing, tab).toEqual([]);
  }
  for (const key of ['e', 'n', 'd', 'm', 'c', 'i']) await page.keyboard.press(key);
  await page.keyboard.press('?');
  const help = page.getByRole('dialog');
  await help.waitFor();
  await expect.poll(() => help.getByRole('heading', { level: 2 }).textContent()).toBe('Keyboard');
  const told = await help.textContent();
  expect(/edit|delete|move|new znode|import/i.exec(told ?? '')?.[0]).toBeUndefined();
  expect(methods.filter((method) => method !== 'GET')).toEqual([]);
  await screenshot(page, 'read-only');
});

it('has at most 400 KB of JavaScript, compressed', () => {
  const assets = join(REPOSITORY, 'console/dist/web/assets');
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const sizes = scripts.map((name) => gzipSync(readFileSync(join(assets, name))).length);
  expect(scripts.length).toBeGreaterThan(1);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(JAVASCRIPT_BYTES_MAX);
});
