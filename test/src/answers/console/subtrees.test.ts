/**
 * What the explorer does with many znodes, in a real browser: export into a file and import of it,
 * copy, move, delete and ACLs by a plan, and children that are selected; and each where it cannot
 * be done: somebody was faster, the target exists, the file is no export.
 *
 * Somebody is faster between the plan and its run, or between two steps of a run, because the test
 * holds the request of the page while another client writes. The file takes 25 s on two cores that
 * are busy with other work, too; each test takes 2 to 5 s.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, connect, NoAuthError } from '@rookery/client';
import type { Locator, Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { askApi } from '../../harness/api.js';
import { lacksBrowser, screenshot, seriousViolations, useBrowser } from '../../harness/browser.js';
import {
  asked,
  button,
  digestOf,
  factsOf,
  makeTree,
  planned,
  saved,
  useDirectory,
} from '../../harness/console-plans.js';
import { useConsoleServer } from '../../harness/console-server.js';

const TEST_DEADLINE_MS = 120_000;
const FASTER = 'The znode has another version by now.';
/** What a browser logs of the answers that a test provokes. */
const REFUSED = /status of 4(?:04|09|12)/;
const OPEN = { scheme: 'world', id: 'anyone', perms: 'cdrwa' };

const open = useBrowser();
const server = useConsoleServer({ settings: { digestAlgs: ['SHA256', 'SHA1'] } });

const addressOf = (path: string) => `${server().address}#/node?path=${encodeURIComponent(path)}`;

async function client(...auths: readonly string[]): Promise<Client> {
  const auth = auths.map((one) => ({ scheme: 'digest', auth: one }));
  const zk = await connect(`127.0.0.1:${server().ensemble.member(1).clientPort}`, { auth });
  onTestFinished(() => zk.close());
  return zk;
}

const nodeFacts = async (path: string) =>
  (await askApi(server().ensemble.member(1), `GET /node?path=${encodeURIComponent(path)}`)).json;

/** Everything below a znode, by relative paths, as far as a copy keeps it. */
async function treeAt(zk: Client, root: string): Promise<Readonly<Record<string, unknown>>> {
  const found: [string, unknown][] = [];
  const paths = [root];
  for (const path of paths) {
    const { mode, ttlMs, acl } = await nodeFacts(path);
    const { data } = await zk.getData(path);
    found.push([path.slice(root.length), { mode, ttlMs, acl, data: Buffer.from(data ?? []) }]);
    const { children } = await zk.getChildren(path);
    paths.push(...children.map((name) => `${path}/${name}`));
  }
  return Object.fromEntries(found);
}

async function textAt(zk: Client, path: string): Promise<string> {
  return Buffer.from((await zk.getData(path)).data ?? []).toString();
}

/** Opens a znode, and waits until its keys count. */
async function opened(path: string): Promise<{ readonly page: Page; readonly dialog: Locator }> {
  const page = await open(addressOf(path), { expectedErrors: REFUSED });
  await page.getByRole('button', { name: 'Export' }).waitFor();
  return { page, dialog: page.getByRole('dialog') };
}

/** The same in the same page, without what was there before. */
async function openedAgain(page: Page, path: string): Promise<void> {
  await page.goto(addressOf(path));
  await page.reload();
  await page.getByRole('button', { name: 'Export' }).waitFor();
}

it.skipIf(lacksBrowser)(
  'exports a part of the tree into a file, and imports it as it was',
  async () => {
    const zk = await client();
    await makeTree(zk, '/export');
    await zk.create('/into');
    const { page, dialog } = await opened('/export');
    const file = await saved(page, () => page.keyboard.press('x'));
    await dialog.getByText('The file is saved.').waitFor();
    const { format, path, nodes } = JSON.parse(readFileSync(file, 'utf8'));
    expect([format, path, nodes.length]).toEqual(['rookery-subtree', '/export', 5]);
    await page.keyboard.press('Escape');

    await page.goto(addressOf('/into'));
    await page.getByRole('heading', { name: 'into', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Import' }).click();
    await dialog.getByLabel('A file that the console has exported').setInputFiles(file);
    await dialog.getByText('It has 5 znodes.').waitFor();
    expect(await planned(dialog)).toEqual([
      ...['To /into/export', 'Created 5 znodes', 'Different, left as they are 0 znodes'],
      'The same already 0 znodes',
    ]);
    await screenshot(page, 'import-plan');
    await button(dialog, 'Import').click();
    await dialog.getByText('All 5 steps are done.').waitFor();
    const before = await treeAt(zk, '/export');
    expect(Object.keys(before)).toHaveLength(5);
    expect(await treeAt(zk, '/into/export')).toEqual(before);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'says of an export that it lacks what the person may not read',
  async () => {
    const zk = await client('owner:secret');
    await makeTree(zk, '/partly');
    await zk.create('/partly/hidden');
    await zk.create('/partly/hidden/deep');
    await zk.setAcl('/partly/hidden', [{ scheme: 'auth', id: '', perms: 31 }]);
    const { page, dialog } = await opened('/partly');
    const file = await saved(page, () => page.keyboard.press('x'));
    await dialog.getByText('1 znode you may not read, and what is below').waitFor();
    const { nodes } = JSON.parse(readFileSync(file, 'utf8'));
    expect(nodes.length).toBe(5);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'imports over what is there only on request, and only what nobody has changed since the plan',
  async () => {
    const zk = await client();
    await makeTree(zk, '/over');
    const { page, dialog } = await opened('/over');
    const file = await saved(page, () => page.keyboard.press('x'));
    await page.keyboard.press('Escape');
    await zk.setData('/over/text', 'changed');
    const imported = async (replaces: boolean) => {
      await page.getByRole('button', { name: 'Import' }).click();
      await dialog.getByLabel('A file that the console has exported').setInputFiles(file);
      await dialog.getByText('It has 5 znodes.').waitFor();
      await dialog.getByLabel('To', { exact: true }).fill('/over');
      if (replaces) await dialog.getByLabel('Replace data that is different there').check();
      return await planned(dialog);
    };
    expect(await imported(false)).toContain('Different, left as they are 1 znode');
    await dialog.getByText('There is nothing to do.').waitFor();
    expect(await button(dialog, 'Import').isDisabled()).toBe(true);
    await button(dialog, 'Cancel').click();

    expect(await imported(true)).toContain('Replaced 1 znode');
    await zk.setData('/over/text', 'by somebody who was faster');
    await button(dialog, 'Import').click();
    await dialog.getByText('0 steps of 1 done. It was stopped').waitFor();
    await dialog.getByText(`set /over/text: ${FASTER}`).waitFor();
    expect(await textAt(zk, '/over/text')).toBe('by somebody who was faster');
    await button(dialog, 'Close').click();

    await imported(true);
    await button(dialog, 'Import').click();
    await dialog.getByText('All 1 step are done.').waitFor();
    expect(await textAt(zk, '/over/text')).toBe('{"größe":1}');
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'takes no file that is no export, and says what is wrong with it',
  async () => {
    const { page, dialog } = await opened('/');
    const directory = useDirectory();
    // A browser says nothing when the same file is given again.
    let count = 0;
    const file = (text: string): string => {
      count += 1;
      const path = join(directory, `import-${count}.json`);
      writeFileSync(path, text);
      return path;
    };
    const exported = (nodes: unknown, version = 1) =>
      JSON.stringify({ format: 'rookery-subtree', version, path: '/a', nodes });
    await page.getByRole('button', { name: 'Import' }).click();
    const field = dialog.getByLabel('A file that the console has exported');
    for (const [text, sentence] of [
      ['{"format":', 'This file is not JSON.'],
      ['{"replicas":3}', 'This file was not exported by the console.'],
      [exported([{ path: '' }], 2), 'This file is of a later version of the console.'],
      [exported([]), 'This file has no znodes'],
      [exported([{ path: '' }, { path: '/a/../b' }]), 'Znode 2 of the file: its path is wrong.'],
      [exported([{ path: '', base64: '%' }]), 'Znode 1 of the file: its data is wrong'],
      [exported([{ path: '' }, { path: '/a/b' }]), 'The parent of /a/b is not in the file.'],
    ] as const) {
      await field.setInputFiles(file(text));
      await dialog.getByText(sentence).waitFor();
      expect(await button(dialog, 'Make a plan').isDisabled(), sentence).toBe(true);
    }
    await field.setInputFiles(file(exported([{ path: '' }])));
    await dialog.getByText('It has 1 znode.').waitFor();
    expect(await button(dialog, 'Make a plan').isDisabled()).toBe(false);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'copies to where nothing is, and moves nothing that has changed since it was copied',
  async () => {
    const zk = await client();
    await makeTree(zk, '/source');
    await zk.create('/taken');
    const { page, dialog } = await opened('/source');
    await asked(page, 'c', '/taken');
    await button(dialog, 'Make a plan').click();
    await dialog.getByText('There is a znode /taken already.').waitFor();
    const to = dialog.getByLabel('To', { exact: true });
    await to.fill('/nowhere/copy');
    await button(dialog, 'Make a plan').click();
    await dialog.getByText('There is no znode /nowhere.').waitFor();
    await to.fill('/source/inside');
    await button(dialog, 'Make a plan').click();
    await dialog.getByText('The new place is inside of what is copied.').waitFor();
    await to.fill('/copied');
    expect(await planned(dialog)).toContain('Znodes 5 znodes');
    // The target came to be between the plan and its run.
    await zk.create('/copied', 'of somebody who was faster');
    await button(dialog, 'Copy').click();
    await dialog.getByText('create /copied: The znode exists already.').waitFor();
    expect(await textAt(zk, '/copied')).toBe('of somebody who was faster');
    expect((await zk.getChildren('/copied')).children).toEqual([]);
    await zk.delete('/copied');
    await openedAgain(page, '/source');
    await asked(page, 'c', '/copied');
    await planned(dialog);
    await button(dialog, 'Copy').click();
    await dialog.getByText('All 5 steps are done.').waitFor();
    const before = await treeAt(zk, '/source');
    expect(await treeAt(zk, '/copied')).toEqual(before);

    // Closing it leads to the copy, which is moved now.
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'copied', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Export' }).waitFor();
    await asked(page, 'm', '/moved');
    await planned(dialog);
    await screenshot(page, 'move-plan');
    const isDelete = /\/api\/v1\/node\?path=%2Fcopied%2Fdeep%2Fleaf$/;
    await page.route(isDelete, async (route) => {
      if (route.request().method() === 'DELETE') await zk.setData('/copied/deep/leaf', 'late');
      await route.continue();
    });
    await button(dialog, 'Move').click();
    await dialog.getByText('5 steps of 10 done. It was stopped').waitFor();
    await dialog.getByText(`delete /copied/deep/leaf: ${FASTER}`).waitFor();
    // What was written late stays where it is; at the new place is everything that was copied.
    expect(await treeAt(zk, '/moved')).toEqual(before);
    expect(await textAt(zk, '/copied/deep/leaf')).toBe('late');
    const left = Object.keys(await treeAt(zk, '/copied'));
    expect(left.sort()).toEqual(Object.keys(before).sort());

    await page.unroute(isDelete);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'moved', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Export' }).waitFor();
    await asked(page, 'm', '/moved-again');
    await planned(dialog);
    await button(dialog, 'Move').click();
    await dialog.getByText('All 10 steps are done.').waitFor();
    expect(await treeAt(zk, '/moved-again')).toEqual(before);
    expect(await zk.exists('/moved')).toBeNull();
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'deletes everything below a znode by its plan, but for what somebody has written since',
  async () => {
    const zk = await client();
    await zk.create('/doomed', 'x');
    for (const name of ['a', 'b', 'c']) await zk.create(`/doomed/${name}`, name);
    const { page, dialog } = await opened('/doomed');
    await page.keyboard.press('d');
    expect(await factsOf(dialog)).toEqual(['Znodes 4 znodes', 'Data 4 B']);
    expect(await button(dialog, 'Delete').isDisabled()).toBe(true);
    await dialog.getByLabel('Type doomed to go ahead').fill('doomed');
    await zk.setData('/doomed/b', 'late');
    await button(dialog, 'Delete').click();
    await dialog.getByText('2 steps of 4 done.').waitFor();
    await dialog.getByText(`delete /doomed/b: ${FASTER}`).waitFor();
    await dialog.getByText('delete /doomed: The znode has children.').waitFor();
    await screenshot(page, 'delete-too-late');
    expect((await zk.getChildren('/doomed')).children).toEqual(['b']);
    expect(await textAt(zk, '/doomed/b')).toBe('late');

    await openedAgain(page, '/doomed');
    await page.keyboard.press('d');
    expect(await factsOf(dialog)).toContain('Znodes 2 znodes');
    await dialog.getByLabel('Type doomed to go ahead').fill('doomed');
    await button(dialog, 'Delete').click();
    await dialog.getByText('All 2 steps are done.').waitFor();
    expect(await zk.exists('/doomed')).toBeNull();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: '/', exact: true }).waitFor();
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'makes the digest that the server takes, keeps one of another form, and gives an ACL by a plan',
  async () => {
    const zk = await client();
    const foreign = { scheme: 'digest', id: 'old:not-of-SHA', perms: 1 };
    await zk.create('/acl', 'x', { acl: [foreign, { ...OPEN, perms: 31 }] });
    for (const path of ['/acl/one', '/acl/two', '/acl/two/deep']) await zk.create(path);
    const readable = { scheme: 'world', id: 'anyone', perms: 1 };
    const ofBoss = { scheme: 'digest', id: digestOf('boss:secret'), perms: 31 };
    await zk.create('/acl/two/closed', '', { acl: [readable, ofBoss] });
    const { page, dialog } = await opened('/acl');
    await page.keyboard.press('3');
    await page.getByRole('button', { name: 'Change the ACL' }).click();
    const entry = page.getByRole('group', { name: 'Entry' });
    for (const one of ['Write', 'Create', 'Delete']) await entry.last().getByLabel(one).uncheck();
    await page.getByRole('button', { name: 'Add an entry' }).click();
    const made = entry.last().getByLabel('Id', { exact: true });
    await entry.last().getByRole('button', { name: 'From a password' }).click();
    await page.getByLabel('user:password').fill('anna:mistyped');
    await page.getByRole('button', { name: 'Take its SHA-256 digest' }).click();
    expect(await made.inputValue()).toBe(digestOf('anna:mistyped'));
    // Enter takes the digest, too, and does not save the ACL without it.
    await entry.last().getByRole('button', { name: 'From a password' }).click();
    await page.getByLabel('user:password').fill('anna,night:secret');
    await page.keyboard.press('Enter');
    expect(await made.inputValue()).toBe(digestOf('anna,night:secret'));
    await entry.last().getByLabel('Write').check();
    await screenshot(page, 'acl-of-sha256');
    await page.getByRole('button', { name: 'Save the ACL' }).click();
    await page.getByRole('cell', { name: digestOf('anna,night:secret') }).waitFor();
    // The comma is a part of the id, and the server takes the password for this digest.
    const anna = await client('anna,night:secret');
    await anna.setData('/acl', 'by anna');
    const index = await askApi(server().ensemble.member(1), 'GET ', { as: 'anna,night:secret' });
    expect(index.json['identities']).toEqual([{ scheme: 'digest', id: 'anna,night' }]);
    await expect(zk.setData('/acl', 'by nobody')).rejects.toThrow(NoAuthError);

    const given = [
      { ...foreign, perms: 'r' },
      { ...OPEN, perms: 'ra' },
      { scheme: 'digest', id: digestOf('anna,night:secret'), perms: 'rw' },
    ];
    const give = page.getByRole('button', { name: 'Give it to everything below' });
    await give.click();
    expect(await factsOf(dialog)).toEqual([
      `ACL digest:${foreign.id}:r, world:anyone:ra, digest:${digestOf('anna,night:secret')}:rw`,
      ...['Changed 3 znodes', 'The same already 0 znodes'],
    ]);
    await dialog.getByText('You may not change the ACL of 1 znode, left out of').waitFor();
    await dialog.getByText('/acl/two/closed', { exact: true }).waitFor();
    await screenshot(page, 'acl-below-left-out');
    await dialog.getByLabel('Type acl to go ahead').fill('acl');
    await zk.setAcl('/acl/one', [{ scheme: 'world', id: 'anyone', perms: 31 }]);
    await button(dialog, 'Set the ACLs').click();
    await dialog.getByText('2 steps of 3 done.').waitFor();
    await dialog.getByText(`set the ACL of /acl/one: ${FASTER}`).waitFor();
    const aclOf = async (path: string) => (await nodeFacts(path))['acl'];
    expect(await aclOf('/acl/one')).toEqual([OPEN]);
    expect(await aclOf('/acl/two')).toEqual(given);
    expect(await aclOf('/acl/two/deep')).toEqual(given);
    await button(dialog, 'Close').click();

    await give.click();
    expect(await factsOf(dialog)).toContain('Changed 1 znode');
    await dialog.getByLabel('Type acl to go ahead').fill('acl');
    await button(dialog, 'Set the ACLs').click();
    await dialog.getByText('All 1 step are done.').waitFor();
    expect(await aclOf('/acl/one')).toEqual(given);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'exports and deletes the children that are selected, and no others',
  async () => {
    const zk = await client();
    await zk.create('/pick');
    for (const path of ['/pick/a', '/pick/b', '/pick/c', '/pick/c/x']) await zk.create(path, 'x');
    const { page, dialog } = await opened('/pick');
    await page.getByLabel('Select a', { exact: true }).check();
    await page.getByLabel('Select c', { exact: true }).check();
    await page.getByText('2 selected').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await screenshot(page, 'children-selected');
    const exported = page.getByRole('button', { name: 'Export the selected' });
    const file = await saved(page, () => exported.click());
    const { nodes } = JSON.parse(readFileSync(file, 'utf8'));
    expect(nodes.map(({ path }: { path: string }) => path)).toEqual(['', '/a', '/c', '/c/x']);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete the selected' }).click();
    expect(await factsOf(dialog)).toEqual(['Znodes 3 znodes', 'Data 3 B']);
    await dialog.getByLabel('Type 3 to go ahead').fill('3');
    await button(dialog, 'Delete').click();
    await dialog.getByText('All 3 steps are done.').waitFor();
    expect((await zk.getChildren('/pick')).children).toEqual(['b']);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    expect(await page.getByText('selected', { exact: false }).count()).toBe(0);
  },
  TEST_DEADLINE_MS,
);
