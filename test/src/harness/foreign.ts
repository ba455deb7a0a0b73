/**
 * The foreign clients of Debian that the tests drive, and whether they are installed.
 *
 * Their tests are skipped by name on a machine without them, like tests that need the kernel's
 * namespaces; with `ROOKERY_REQUIRE_FOREIGN=1`, as in continuous integration, they fail instead.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

export const CLI_MT = '/usr/lib/zookeeper/bin/cli_mt';
export const ZK_CLI = '/usr/share/zookeeper/bin/zkCli.sh';
/** Debian's interpreter, which finds Debian's python3-kazoo. */
export const PYTHON = '/usr/bin/python3';

const run = promisify(execFile);
const required = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';

/** For what the machine cannot do: skips the test, or fails it where nothing may be missing. */
export function skipOrFail(skip: (reason: string) => never, reason: string): never {
  if (required) throw new Error(reason);
  return skip(reason);
}

/** For `it.skipIf`: true if the program is missing and that is tolerated. */
export function mayLack(program: string): boolean {
  return !required && !existsSync(program);
}

export async function mayLackKazoo(): Promise<boolean> {
  if (required) return false;
  return await run(PYTHON, ['-c', 'import kazoo']).then(
    () => false,
    () => true,
  );
}
