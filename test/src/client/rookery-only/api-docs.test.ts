/**
 * Goal: `npm run docs` builds the API documentation without a warning: every link leads somewhere,
 * every type that a public name mentions is public. Method: TypeDoc with docs/typedoc.json, as the
 * script runs it, into a directory of the test's; TypeDoc takes a warning for an error there.
 *
 * Where TypeDoc is not installed and npm reaches no registry the test is skipped and says so; not
 * in continuous integration (ROOKERY_REQUIRE_FOREIGN=1).
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { REPOSITORY } from '../../harness/product.js';
import { isRegistryUnreachable, runCommand } from '../run-command.js';

const TYPEDOC = join(REPOSITORY, 'docs/node_modules/typedoc/bin/typedoc');
const INSTALL_DEADLINE_MS = 300_000;
const BUILD_DEADLINE_MS = 300_000;

it('the API documentation builds without a warning and has the names that users look for', {
  timeout: INSTALL_DEADLINE_MS + BUILD_DEADLINE_MS,
}, async ({ skip }) => {
  if (!existsSync(TYPEDOC)) {
    const args = ['ci', '--prefix', 'docs', '--no-audit', '--no-fund'];
    const options = { cwd: REPOSITORY, deadlineMs: INSTALL_DEADLINE_MS };
    const installed = await runCommand('npm', args, options);
    const isRequired = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';
    if (!isRequired && isRegistryUnreachable(installed)) skip('no registry to install TypeDoc');
    expect(installed).toMatchObject({ code: 0 });
  }
  const out = mkdtempSync(join(tmpdir(), 'rookery-api-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const args = [TYPEDOC, '--options', 'docs/typedoc.json', '--out', out];
  const options = { cwd: REPOSITORY, deadlineMs: BUILD_DEADLINE_MS };
  const built = await runCommand(process.execPath, args, options);
  expect(`${built.stdout}${built.stderr}`).not.toMatch(/warning|error/i);
  expect(built.code).toBe(0);
  const modules = readFileSync(join(out, 'modules.html'), 'utf8');
  for (const name of ['Client', 'Lease', 'Lock', 'connect', 'ConnectOptions', 'NoNodeError']) {
    expect(modules).toContain(`>${name}<`);
  }
});
