/**
 * `rookery config from-zoo-cfg FILE` prints the config file for an ensemble that replaces a
 * ZooKeeper ensemble.
 *
 * The config goes to standard output, and a line for each key to standard error: taken over,
 * without effect here, or refused, and why. Only the file for users of SASL is written. Exit code
 * 0: every key is taken over or has no effect; 1: a key is refused, or the config lacks what a
 * member needs; 2: a file cannot be read or made.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { checkSettings, OperatorError } from '@rookery/server';
import { type Converted, convertZooCfg, type KeyReport } from './zoo-cfg/convert.js';
import { JaasError, type JaasSection, readJaas } from './zoo-cfg/jaas.js';
import { type TakenUsers, takeJaas } from './zoo-cfg/jaas-report.js';

const EXIT_REFUSED = 1;
const NO_USERS = { settings: {}, report: [] };
const ORDER = ['refused', 'no effect', 'taken'] as const satisfies KeyReport['outcome'][];

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
}

/** Returns the exit code. Throws OperatorError for a file that cannot be read, or made. */
export function runFromZooCfg(command: FromZooCfg, to: Output = STANDARD): number {
  const { file, jaas, users } = command;
  const { config: ofKeys, report: keys } = converted(file);
  const taken = jaas === undefined ? NO_USERS : ofJaas(jaas, users);
  const config = { ...ofKeys, ...taken.settings };
  const report = [...keys, ...taken.report];
  const { problems } = checkSettings(config);
  to.out(`${JSON.stringify(config, null, 2)}\n`);
  for (const wanted of ORDER) {
    const lines = report.filter(({ outcome }) => outcome === wanted);
    for (const { key, outcome, text } of lines) to.err(`${outcome.padEnd(10)} ${key}: ${text}\n`);
  }
  for (const problem of problems) to.err(`incomplete ${problem}\n`);
  const isRefused = report.some(({ outcome }) => outcome === 'refused');
  return isRefused || problems.length > 0 ? EXIT_REFUSED : 0;
}

function converted(file: string): Converted {
  const text = readText(file);
  return convertZooCfg(text, (dynamic) => readText(resolve(dirname(file), dynamic)));
}

function ofJaas(file: string, usersFile: string | undefined): Omit<TakenUsers, 'users'> {
  const { users, settings, report } = takeJaas(sectionsOf(file), usersFile !== undefined);
  if (usersFile === undefined || users === '') return { settings, report };
  const path = resolve(usersFile);
  try {
    // What it has is as good as the passwords.
    writeFileSync(path, users, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${path} cannot be made: ${reason}`, { cause: error });
  }
  return { settings: { ...settings, sasl: { usersFile: path } }, report };
}

function sectionsOf(file: string): readonly JaasSection[] {
  try {
    return readJaas(readText(file));
  } catch (error) {
    if (!(error instanceof JaasError)) throw error;
    throw new OperatorError(`${file} is no JAAS file: ${error.message}`, { cause: error });
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new OperatorError(
      `cannot read ${file}: ${error instanceof Error ? error.message : error}`,
    );
  }
}
