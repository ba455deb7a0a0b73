/**
 * `rookery config from-zoo-cfg FILE` prints the config file for an ensemble that replaces a
 * ZooKeeper ensemble.
 *
 * The config goes to standard output, and a line for each key to standard error: taken over,
 * without effect here, or refused, and why. Only files with secrets are written: the users of SASL,
 * passphrases, the secret of the members. Exit code 0: every key is taken over or has no effect; 1:
 * a key is refused, or something is left to do before a member starts; 2: a file cannot be read or
 * made.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorMessage } from '@rookery/protocol';
import { checkSettings, OperatorError, readFileUpTo, SMALL_FILE_BYTES_MAX } from '@rookery/server';
import { visible } from '../terminal/visible-text.js';
import { type Converted, convertZooCfg, joinSettings, type KeyReport } from '../zoo-cfg/convert.js';
import {
  JaasError,
  type JaasSection,
  readJaas,
  type TakenUsers,
  takeJaas,
} from '../zoo-cfg/jaas.js';

const EXIT_REFUSED = 1;
const NO_USERS = { settings: {}, report: [] };
const ORDER = [
  'refused',
  'no effect',
  'taken',
  'incomplete',
] as const satisfies KeyReport['outcome'][];

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

const STANDARD: Output = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

export interface FromZooCfg {
  readonly file: string;
  /** The JAAS file of ZooKeeper's servers. */
  readonly jaas?: string;
  /** The file that is made for its users. */
  readonly users?: string;
  /** The directory for files with other secrets, which are made in it. */
  readonly secrets?: string;
}

/** Returns the exit code. Throws OperatorError for a file that cannot be read, or made. */
export function runFromZooCfg(command: FromZooCfg, to: Output = STANDARD): number {
  const { file, jaas, users, secrets } = command;
  const ofKeys = converted(file, { hasJaas: jaas !== undefined, secrets });
  const taken = jaas === undefined ? NO_USERS : ofJaas(jaas, users);
  for (const [path, text] of Object.entries(ofKeys.secrets)) makeSecret(path, text);
  const { servers, ...settings } = joinSettings(ofKeys.config, taken.settings);
  const config = { ...settings, servers };
  const report = [...ofKeys.report, ...taken.report];
  const { problems } = checkSettings(config);
  // Names and hosts come from the file, which others may have written.
  const err = (line: string) => to.err(visible(line));
  to.out(visible(`${JSON.stringify(config, null, 2)}\n`));
  for (const wanted of ORDER) {
    const lines = report.filter(({ outcome }) => outcome === wanted);
    for (const { key, outcome, text } of lines) err(`${outcome.padEnd(10)} ${key}: ${text}\n`);
  }
  for (const problem of problems) err(`incomplete ${problem}\n`);
  const isLeft = report.some(({ outcome }) => outcome === 'refused' || outcome === 'incomplete');
  return isLeft || problems.length > 0 ? EXIT_REFUSED : 0;
}

function converted(
  file: string,
  { hasJaas, secrets }: { readonly hasJaas: boolean; readonly secrets: string | undefined },
): Converted {
  return convertZooCfg(readText(file), {
    readDynamic: (dynamic) => readText(resolve(dirname(file), dynamic)),
    hasJaas,
    secretPath: (name) => (secrets === undefined ? null : resolve(secrets, name)),
  });
}

function ofJaas(file: string, usersFile: string | undefined): Omit<TakenUsers, 'users'> {
  const { users, settings, report } = takeJaas(sectionsOf(file), usersFile !== undefined);
  if (usersFile === undefined || users === '') return { settings, report };
  const path = resolve(usersFile);
  makeSecret(path, users);
  return { settings: { ...settings, sasl: { usersFile: path } }, report };
}

/** Makes a file that only its owner may read, and never overwrites one. */
function makeSecret(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const reason = errorMessage(error);
    throw new OperatorError(`${path} cannot be made: ${reason}`, { cause: error });
  }
}

function sectionsOf(file: string): readonly JaasSection[] {
  try {
    return readJaas(readText(file));
  } catch (error) {
    if (!(error instanceof JaasError)) throw error;
    throw new OperatorError(`${file} is not a JAAS file: ${error.message}`, { cause: error });
  }
}

function readText(file: string): string {
  try {
    return readFileUpTo(file, SMALL_FILE_BYTES_MAX).toString();
  } catch (error) {
    throw new OperatorError(`cannot read ${file}: ${errorMessage(error)}`);
  }
}
