/**
 * Goal: the documentation builds. `npm run docs:site` makes a site that needs no network: each link
 * between pages leads somewhere, and nothing is loaded from elsewhere. `npm run docs` makes the API
 * documentation without a warning: every link leads somewhere, every type that a public name
 * mentions is public. Method: VitePress and TypeDoc with their own configuration, as the scripts
 * run them, into a directory of the test's; TypeDoc takes a warning for an error there.
 *
 * Where they are not installed and npm reaches no registry the tests are skipped and say so; not in
 * continuous integration (ROOKERY_REQUIRE_FOREIGN=1). They share a file because only one of them
 * may install what both need.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished, type TestContext } from 'vitest';
import { REPOSITORY } from '../../harness/product.js';
import { isRegistryUnreachable, type Outcome, runCommand } from '../run-command.js';

const VITEPRESS = join(REPOSITORY, 'docs/node_modules/vitepress/bin/vitepress.js');
const TYPEDOC = join(REPOSITORY, 'docs/node_modules/typedoc/bin/typedoc');
const INSTALL_DEADLINE_MS = 300_000;
const BUILD_DEADLINE_MS = 300_000;
/** What a browser fetches by itself. */
const FETCHED = /<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"/g;

let installed: Outcome | undefined;
beforeAll(async () => {
  if (existsSync(VITEPRESS) && existsSync(TYPEDOC)) return;
  const args = ['ci', '--prefix', 'docs', '--no-audit', '--no-fund'];
  installed = await runCommand('npm', args, { cwd: REPOSITORY, deadlineMs: INSTALL_DEADLINE_MS });
}, INSTALL_DEADLINE_MS);

/** Skips the test, saying why, when what it needs could not be had. */
function needInstalled({ skip }: TestContext): void {
  if (installed === undefined) return;
  const isRequired = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';
  if (!isRequired && isRegistryUnreachable(installed)) skip('no registry to install from');
  expect(installed).toMatchObject({ code: 0 });
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-docs-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function build(...args: readonly string[]): Promise<Outcome> {
  const options = { cwd: REPOSITORY, deadlineMs: BUILD_DEADLINE_MS };
  return await runCommand(process.execPath, args, options);
}

it('the site builds, has the pages of the client, and loads nothing from elsewhere', {
  timeout: BUILD_DEADLINE_MS,
}, async (context) => {
  needInstalled(context);
  const out = newDirectory();
  const built = await build(VITEPRESS, 'build', 'docs', '--outDir', out);
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

it('the API documentation builds without a warning and has the names that users look for', {
  timeout: BUILD_DEADLINE_MS,
}, async (context) => {
  needInstalled(context);
  const out = newDirectory();
  const built = await build(TYPEDOC, '--options', 'docs/typedoc.json', '--out', out);
  expect(`${built.stdout}${built.stderr}`).not.toMatch(/warning|error/i);
  expect(built.code).toBe(0);
  const modules = readFileSync(join(out, 'modules.html'), 'utf8');
  for (const name of ['Client', 'Lease', 'Lock', 'connect', 'ConnectOptions', 'NoNodeError']) {
    expect(modules).toContain(`>${name}<`);
  }
});
