/**
 * The explorer in a real browser: a large directory, an edit that two make at a time, everything by
 * keyboard alone, hostile names and data, and what axe-core finds.
 */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { lacksBrowser, screenshot, seriousViolations, useBrowser } from '../../harness/browser.js';
import { longestTaskMs, traced } from '../../harness/browser-trace.js';
import { useConsoleServer } from '../../harness/console-server.js';
import { create, getData, multiFailed, sendCreates, setData } from '../../harness/operations.js';
import { useClient } from '../../harness/use-client.js';
import type { WireClient } from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 120_000;
const CHILDREN = 100_000;
/** Processor time, so that other work of the machine is not counted. */
const TASK_MS_MAX = 50;

const open = useBrowser();
const server = useConsoleServer();

const client = (): Promise<WireClient> => useClient(server().ensemble.member(1));
const addressOf = (path: string) => `${server().address}#/node?path=${encodeURIComponent(path)}`;
/** A row has the number of the znode's children behind its name. */
const row = (page: Page, name: string) => {
  const literally = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return page.getByRole('treeitem', { name: new RegExp(`^${literally}\\s*[\\d,]*$`) });
};

it.skipIf(lacksBrowser)(
  'scrolls smoothly through a hundred thousand children, without a request for each',
  async () => {
    const zk = await client();
    await create(zk, '/big');
    const paths = Array.from(
      { length: CHILDREN },
      (_, at) => `/big/n${String(at).padStart(6, '0')}`,
    );
    const chunks = Array.from({ length: CHILDREN / 1_000 }, (_, at) =>
      paths.slice(at * 1_000, at * 1_000 + 1_000),
    );
    for (const chunk of chunks) expect(multiFailed(await sendCreates(zk, chunk))).toBe(false);
    const page = await open(addressOf('/big'));
    await page.getByRole('heading', { name: 'big' }).waitFor();
    await page.keyboard.press('t');
    await page.keyboard.press('ArrowRight');
    await row(page, 'n000000').waitFor();
    const tree = await page.getByRole('tree').boundingBox();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const events = await traced(page, async () => {
      await page.mouse.move((tree?.x ?? 0) + 50, (tree?.y ?? 0) + 200);
      for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(0, 1_500);
      await page.keyboard.press('End');
      await row(page, `n0${CHILDREN - 1}`).waitFor();
      for (let turn = 0; turn < 10; turn += 1) await page.mouse.wheel(0, -1_500);
    });
    await screenshot(page, 'large-directory');
    expect(longestTaskMs(events)).toBeLessThan(TASK_MS_MAX);
    const children = asked.filter((url) => url.includes('/children?'));
    expect(children.length).toBeLessThanOrEqual(1 + CHILDREN / 1_000);
    expect(asked.length - children.length).toBeLessThan(20);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'merges an edit with what somebody else wrote in the meantime',
  async () => {
    const zk = await client();
    const lines = Array.from({ length: 12 }, (_, index) => `line${index}: ${index}`);
    const text = (changed: Record<number, string>) =>
      lines.map((line, index) => changed[index] ?? line).join('\n');
    await create(zk, '/merge', text({}));
    const page = await open(addressOf('/merge'), { expectedErrors: /status of 412/ });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('from version 0').waitFor();
    await page.getByRole('textbox', { name: 'Data' }).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(text({ 0: 'mine at the top', 6: 'mine in the middle' }));
    await page.keyboard.press('Control+s');
    await page.getByText('what you are about to write').waitFor();
    await setData(zk, '/merge', text({ 6: 'theirs in the middle', 11: 'theirs at the end' }));
    await page.getByRole('button', { name: 'Save', exact: false }).last().click();
    await page.getByText('the same lines in 1 place').waitFor();
    await screenshot(page, 'edit-conflict');
    await page.getByRole('radio', { name: 'Both' }).check();
    await page.getByRole('button', { name: 'Review the result' }).click();
    await page.getByText('what you are about to write').waitFor();
    await screenshot(page, 'edit-merged');
    expect((await getData(zk, '/merge')).data).toContain('theirs at the end');
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect((await getData(zk, '/merge')).data.split('\n')).toEqual([
      ...['mine at the top', ...lines.slice(1, 6)],
      ...['mine in the middle', 'theirs in the middle'],
      ...[...lines.slice(7, 11), 'theirs at the end'],
    ]);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'keeps what is typed while the page is still being drawn',
  async () => {
    const zk = await client();
    await create(zk, '/fast', 'first');
    const page = await open(addressOf('/fast'));
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('from version 0').waitFor();
    await page.getByRole('textbox', { name: 'Data' }).waitFor();
    // The second letter comes as soon as the page shows that something is changed, which is before
    // React runs the effects of the first. It takes 2 s.
    await page.evaluate(`(() => {
      const type = (text) => document.execCommand('insertText', false, text);
      const onDrawn = (_, observer) => {
        observer.disconnect();
        type('b');
      };
      const drawn = { subtree: true, childList: true, characterData: true };
      new MutationObserver(onDrawn).observe(document.querySelector('.edit-foot'), drawn);
      type('a');
    })()`);
    await page.getByRole('button', { name: 'Discard' }).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('what you are about to write').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect((await getData(zk, '/fast')).data).toBe('abfirst');
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'does everything once by keyboard alone',
  async () => {
    const zk = await client();
    await create(zk, '/keys');
    await create(zk, '/keys/one', 'first');
    const page = await open(addressOf('/'), { expectedErrors: /status of 404/ });
    const keys = async (...pressed: readonly string[]) => {
      for (const key of pressed) await page.keyboard.press(key);
    };
    // Keys count from when the znode is there, not only its name.
    const opened = async (name: string) => {
      await page.getByRole('heading', { name, exact: true }).waitFor();
      await page.getByRole('button', { name: 'Export' }).waitFor();
    };
    await page.getByRole('treeitem', { name: '/', exact: true }).waitFor();
    // By the address, with completion.
    await keys('p');
    await page.keyboard.type('keys/o');
    await page.getByRole('option', { name: '/keys/one' }).waitFor();
    await keys('Tab', 'Enter');
    await opened('one');
    await page.getByRole('textbox', { name: 'Data' }).waitFor();
    // Edit, review, save.
    await keys('e');
    await page.getByText('from version 0').waitFor();
    await page.getByRole('textbox', { name: 'Data' }).waitFor();
    await keys('End');
    await page.keyboard.type(' and more');
    await keys('Control+s');
    await page.getByText('what you are about to write').waitFor();
    await keys('Control+s');
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect((await getData(zk, '/keys/one')).data).toBe('first and more');
    // A new znode.
    await keys('u');
    await opened('keys');
    await keys('n');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('two');
    await keys('Enter');
    await opened('two');
    expect((await getData(zk, '/keys/two')).data).toBe('');
    // Copy it, and delete what was copied.
    await keys('c');
    await page.getByRole('dialog').waitFor();
    await keys('Enter');
    await page.getByRole('button', { name: 'Copy', exact: true }).last().waitFor();
    await page.getByRole('dialog').getByText('1 znode', { exact: true }).waitFor();
    await keys('Enter');
    await page.getByText('All 1 step are done.').waitFor();
    await keys('Escape');
    await opened('two-copy');
    await keys('d');
    await page.getByRole('dialog').getByText('1 znode', { exact: true }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).focus();
    await keys('Enter');
    await page.getByText('All 1 step are done.').waitFor();
    await keys('Escape');
    await opened('keys');
    // Search, and go to what was found.
    await keys('/');
    await page.keyboard.type('two');
    await page.getByRole('option', { name: 'two' }).waitFor();
    await keys('ArrowDown', 'Enter');
    await opened('two');
    // The ACL, the tree, and another page.
    await keys('3');
    await page.getByRole('cell', { name: 'anyone' }).waitFor();
    await keys('Escape');
    await page.getByRole('searchbox').focus();
    await keys('Escape', 'ArrowUp');
    await opened('one');
    await keys('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('sessions');
    await page.getByRole('option', { name: 'Sessions' }).waitFor();
    await keys('Enter');
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'is broken by no name and no data',
  async () => {
    const zk = await client();
    await create(zk, '/hostile');
    const names = ['<img src=x onerror=alert(1)>', 'right\u061cleft', '%2F..', 'x'.repeat(200)];
    for (const name of names) await create(zk, `/hostile/${name}`, '<script>alert(1)</script>');
    await create(zk, '/hostile/deep', '['.repeat(900_000));
    await create(zk, '/hostile/long', 'x'.repeat(1_000_000));
    await create(zk, '/hostile/controls', 'a\u0000b\u001b[31m\u202ec');
    await create(zk, '/hostile/deep-xml', '<a>'.repeat(300_000));
    const page = await open(addressOf('/hostile'));
    let alerts = 0;
    page.on('dialog', () => {
      alerts += 1;
    });
    await page.getByRole('heading', { name: 'hostile' }).waitFor();
    await page.keyboard.press('t');
    await page.keyboard.press('ArrowRight');
    const shownNames = ['<img src=x onerror=alert(1)>', 'right\\u{61c}left', '%2F..'];
    for (const name of [...shownNames, 'controls', 'long', 'deep', 'deep-xml']) {
      await row(page, name).click();
      await page.getByRole('heading', { name, exact: true }).waitFor();
      await page
        .getByLabel('Data', { exact: true })
        .or(page.getByLabel('Data in hex'))
        .first()
        .waitFor();
    }
    await screenshot(page, 'hostile');
    await row(page, '<img src=x onerror=alert(1)>').click();
    await page.getByText('<script>').waitFor();
    expect(alerts).toBe(0);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser)(
  'shows numbers as they are, those of JSON and those of recipes',
  async () => {
    const zk = await client();
    await create(zk, '/kinds');
    await create(zk, '/kinds/json', '{"id":12345678901234567890}');
    await create(zk, '/kinds/count', '\u0000\u0000\u0000\u002a');
    const page = await open(addressOf('/kinds/json'));
    await page.getByText('12345678901234567890').waitFor();
    await page.keyboard.press('t');
    await page.keyboard.press('ArrowUp');
    await page.getByText("as Curator's SharedCount").waitFor();
    await page.getByText('42', { exact: true }).waitFor();
  },
  TEST_DEADLINE_MS,
);

it.skipIf(lacksBrowser).each(['light', 'dark'] as const)(
  'has nothing that axe-core calls serious, in the %s theme',
  async (colorScheme) => {
    const zk = await client();
    const path = `/axe-${colorScheme}`;
    await create(zk, path, '{"a":1}');
    await create(zk, `${path}/child`, '');
    const page = await open(addressOf(path), { colorScheme });
    await page.getByText('"a"').waitFor();
    await row(page, path.slice(1)).waitFor();
    expect(await seriousViolations(page), 'data').toEqual([]);
    await screenshot(page, `explorer-${colorScheme}`);
    await page.keyboard.press('3');
    await page.getByRole('button', { name: 'Change the ACL' }).click();
    await page.getByRole('button', { name: 'Save the ACL' }).waitFor();
    expect(await seriousViolations(page), 'ACL').toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.keyboard.press('2');
    await page.getByRole('columnheader', { name: 'Size' }).waitFor();
    expect(await seriousViolations(page), 'children').toEqual([]);
    await page.keyboard.press('4');
    await page.getByText('Watching: nothing').waitFor();
    expect(await seriousViolations(page), 'changes').toEqual([]);
    await page.keyboard.press('d');
    await page.getByText('2 znodes').waitFor();
    expect(await seriousViolations(page), 'plan').toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(await seriousViolations(page), 'help').toEqual([]);
  },
  TEST_DEADLINE_MS,
);
