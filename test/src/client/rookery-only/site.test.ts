/**
 * Goal: `npm run docs:site` builds the documentation as a site that needs no network: each link
 * between pages leads somewhere, and nothing is loaded from elsewhere. Method: VitePress with the
 * site's own configuration, as the script runs it, into a directory of the test's.
 *
 * Where VitePress is not installed and npm reaches no registry the test is skipped and says so; not
 * in continuous integration (ROOKERY_REQUIRE_FOREIGN=1).
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { REPOSITORY } from '../../harness/product.js';
import { isRegistryUnreachable, runCommand } from '../run-command.js';

const VITEPRESS = join(REPOSITORY, 'docs/node_modules/vitepress/bin/vitepress.js');
const INSTALL_DEADLINE_MS = 300_000;
const BUILD_DEADLINE_MS = 300_000;
/** What a browser fetches by itself. */
const FETCHED = /<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"/g;

it('the site builds, has the pages of the client, and loads nothing from elsewhere', {
  timeout: INSTALL_DEADLINE_MS + BUILD_DEADLINE_MS,
}, async ({ skip }) => {
  if (!existsSync(VITEPRESS)) {
    const args = ['ci', '--prefix', 'docs', '--no-audit', '--no-fund'];
    const options = { cwd: REPOSITORY, deadlineMs: INSTALL_DEADLINE_MS };
    const installed = await runCommand('npm', args, options);
    const isRequired = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';
    if (!isRequired && isRegistryUnreachable(installed)) skip('no registry to install VitePress');
    expect(installed).toMatchObject({ code: 0 });
  }
  const out = mkdtempSync(join(tmpdir(), 'rookery-site-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const args = [VITEPRESS, 'build', 'docs', '--outDir', out];
  const options = { cwd: REPOSITORY, deadlineMs: BUILD_DEADLINE_MS };
  const built = await runCommand(process.execPath, args, options);
  expect(built.code, `${built.stdout}${built.stderr}`).toBe(0);

  const files = readdirSync(out, { recursive: true, encoding: 'utf8' });
  const recipes = readdirSync(join(REPOSITORY, 'docs/client/recipes'))
    .filter((name) => name !== 'README.md')
    .map((name) => `docs/client/recipes/${name.replace('.md', '.html')}`);
  expect(files).toEqual(expect.arrayContaining(['docs/client/start.html', ...recipes]));
  const pages = files.filter((file) => file.endsWith('.html'));
  const fetched = pages.flatMap((page) => [
    ...readFileSync(join(out, page), 'utf8').matchAll(FETCHED),
  ]);
  expect(fetched.map(([tag]) => tag)).toEqual([]);
  // The index of the search is one of the site's own files.
  expect(files.some((file) => /localSearchIndex/.test(file))).toBe(true);
  const sessions = readFileSync(join(out, 'docs/client/sessions.html'), 'utf8');
  expect(sessions).toMatch(/<img src="[^"]+" alt="The states of a client"/);
});
