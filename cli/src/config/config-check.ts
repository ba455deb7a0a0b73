/**
 * `rookery config check FILE` reports what would fail with this config file, tried from this
 * machine.
 *
 * The rules of the file come first. Then each member's name is looked up, its ports are dialled,
 * and the clock of each member that has an HTTP port is compared with the one here. Files with
 * certificates, secrets and users are read, and a root that is more open than `rootAcl` is told.
 * With `--id` the command also tries what that member
 * needs on this machine: its addresses, directories and free space. Nothing is changed. Exit code
 * 0: nothing would fail; 1: something would; 2: the file is invalid or cannot be read.
 */
import {
  type Config,
  loadConfig,
  loadEnsembleConfig,
  memberDirectories,
  type ServerAddress,
} from '@rookery/server';
import {
  bindCheck,
  clockChecks,
  dialCheck,
  directoryCheck,
  type Finding,
  nameCheck,
} from './config-checks.js';
import { securityChecks } from './config-security-checks.js';
import { rootAclCheck } from './root-acl-check.js';

interface CheckOptions {
  readonly file: string;
  /** The member that is to run on this machine; null if none is. */
  readonly id: number | null;
}

const EXIT_FAILS = 1;

/**
 * Writes a line for each finding; returns the exit code. Throws OperatorError for an invalid file.
 */
export async function runConfigCheck(
  { file, id }: CheckOptions,
  out: (text: string) => void = (text) => process.stdout.write(text),
): Promise<number> {
  const config = id === null ? loadEnsembleConfig(file) : loadConfig(file, id);
  out(`${'ok'.padEnd(8)} ${file} is a valid config file\n`);
  let hasFailed = false;
  for await (const { verdict, text } of findings(config, id)) {
    out(`${verdict.padEnd(8)} ${text}\n`);
    if (verdict === 'FAIL') hasFailed = true;
  }
  return hasFailed ? EXIT_FAILS : 0;
}

async function* findings(config: Config, id: number | null): AsyncGenerator<Finding> {
  const { servers } = config;
  const names = await Promise.all(servers.map((server) => nameCheck(server, config, id)));
  yield* names.filter((finding) => finding !== null);
  const self = servers.find((server) => server.id === id);
  if (self !== undefined) yield* ofThisMachine(config, self);
  yield* await securityChecks(config, self ?? null);
  const others = servers.filter((server) => server !== self);
  const dialled = await Promise.all(others.map((server) => dialCheck(server, servers.length)));
  yield* dialled.flat();
  yield* await clockChecks(others, config);
  const root = await rootAclCheck(config);
  if (root !== null) yield root;
}

async function* ofThisMachine(config: Config, self: ServerAddress): AsyncGenerator<Finding> {
  yield* await bindCheck(self, config);
  const { data, log } = memberDirectories(config, self.id);
  for (const directory of new Set([data, log])) yield await directoryCheck(directory);
}
