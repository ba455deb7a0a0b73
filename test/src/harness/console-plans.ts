/**
 * What the tests of the console's work on many znodes share: a tree with one of everything that a
 * copy keeps, the dialog in which a plan is made, and files on the disk.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@rookery/client';
import type { Locator, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

const DAY_MS = 86_400_000;
const NOT_TEXT = Buffer.from([0, 0xff, 0xfe, 0x0a]);

/** The id of scheme digest on a server that uses SHA-256. */
export function digestOf(credential: string): string {
  const user = credential.slice(0, credential.indexOf(':'));
  return `${user}:${createHash('sha256').update(credential).digest('base64')}`;
}

/** Five znodes: text, bytes that are no text, a container, a time to live, an ACL of its own. */
export async function makeTree(zk: Client, root: string): Promise<void> {
  const acl = [
    { scheme: 'world', id: 'anyone', perms: 31 },
    { scheme: 'digest', id: digestOf('anna,night:secret'), perms: 1 },
  ];
  await zk.create(root, 'the root');
  await zk.create(`${root}/text`, '{"größe":1}', { acl });
  await zk.create(`${root}/binary`, NOT_TEXT);
  await zk.create(`${root}/deep`, '', { mode: 'container' });
  await zk.create(`${root}/deep/leaf`, 'x', { mode: 'persistentWithTtl', ttlMs: DAY_MS });
}

/** A directory of this test alone. */
export function useDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-console-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Saves what `start` makes the page download, as a real file; resolves with its path. */
export async function saved(page: Page, start: () => Promise<void>): Promise<string> {
  const downloading = page.waitForEvent('download');
  await start();
  const file = join(useDirectory(), 'export.json');
  await (await downloading).saveAs(file);
  return file;
}

/** The dialog has a button with a cross that is named `Close`, too, before all others. */
export function button(dialog: Locator, name: string): Locator {
  return dialog.getByRole('button', { name, exact: true }).last();
}

/** Presses a key that opens a dialog, and fills in where to. */
export async function asked(page: Page, key: string, to: string): Promise<void> {
  await page.keyboard.press(key);
  await page.getByRole('dialog').getByLabel('To', { exact: true }).fill(to);
}

/** Makes a plan; resolves with its facts, such as `Created 5 znodes`. */
export async function planned(dialog: Locator): Promise<readonly string[]> {
  await button(dialog, 'Make a plan').click();
  return await factsOf(dialog);
}

/** The facts of the plan that is made, or is being made. */
export async function factsOf(dialog: Locator): Promise<readonly string[]> {
  const facts = dialog.locator('.plan-fact');
  await facts.first().waitFor();
  const parts = await facts.locator('dt, dd').allTextContents();
  return parts.flatMap((name, at) => (at % 2 === 0 ? [`${name} ${parts[at + 1]}`] : []));
}
