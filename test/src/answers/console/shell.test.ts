/**
 * The frame of the console in a real browser, below a prefix and for reading only: it finds the API
 * beside itself, and nothing that writes is on the page.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { lacksBrowser, screenshot, seriousViolations, useBrowser } from '../../harness/browser.js';
import { useConsoleServer } from '../../harness/console-server.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { create } from '../../harness/operations.js';
import { REPOSITORY } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';

const JAVASCRIPT_BYTES_MAX = 400_000;
const TEST_DEADLINE_MS = 120_000;
const PREFIX = '/ops/rookery';

const USER_OPS = `ops:${createHash('sha1').update('ops:secret').digest('base64')}`;

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
  const writes = /^(new|edit|copy|move|delete|import|change the acl|give|create|save|remove)/i;
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

it.skipIf(lacksBrowser)(
  'asks for a user where the port has users, and forgets him on request',
  async () => {
    const settings = { adminUsers: [USER_OPS] };
    const { members } = await useServingEnsemble({ size: 1, operated: true, settings });
    const page = await open(`http://127.0.0.1:${members[0]?.adminPort}/console/#/node?path=/`, {
      expectedErrors: /status of 401/,
    });
    const logIn = async (password: string) => {
      await page.getByLabel('User', { exact: true }).fill('ops');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Log in' }).click();
    };
    await logIn('wrong');
    await page.getByRole('alert').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await screenshot(page, 'log-in');
    await page.getByLabel('Keep me logged in').check();
    await logIn('secret');
    await page.getByRole('treeitem', { name: 'zookeeper' }).waitFor();
    await page.reload();
    await page.getByRole('treeitem', { name: 'zookeeper' }).waitFor();
    await page.getByRole('button', { name: 'ops' }).click();
    await page.getByText('In the tree you are digest ops.').waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    // Nothing is left of him that a new page could use.
    await page.reload();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
  },
  TEST_DEADLINE_MS,
);

it('has at most 400 KB of JavaScript, compressed', () => {
  const assets = join(REPOSITORY, 'console/dist/web/assets');
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const sizes = scripts.map((name) => gzipSync(readFileSync(join(assets, name))).length);
  expect(scripts.length).toBeGreaterThan(1);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(JAVASCRIPT_BYTES_MAX);
});
