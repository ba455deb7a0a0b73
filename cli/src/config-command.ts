/**
 * `rookery config from-zoo-cfg FILE` prints the config file for an ensemble that replaces a
 * ZooKeeper ensemble.
 *
 * The config goes to standard output, and a line for each key to standard error: taken over,
 * without effect here, or refused, and why. No file is written. Exit code 0: every key is taken
 * over or has no effect; 1: a key is refused, or the config lacks what a member needs; 2: the file
 * cannot be read.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { checkSettings, OperatorError } from '@rookery/server';
import { type Converted, convertZooCfg, type KeyReport } from './zoo-cfg/convert.js';
import { JaasError, readJaas } from './zoo-cfg/jaas.js';
import { jaasReport } from './zoo-cfg/jaas-report.js';

const EXIT_REFUSED = 1;
const ORDER = ['refused', 'no effect', 'taken'] as const satisfies KeyReport['outcome'][];

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

const STANDARD: Output = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
};

/** Returns the exit code. Throws OperatorError for a file that cannot be read. */
export function runFromZooCfg(
  { file, jaas = null }: { readonly file: string; readonly jaas?: string | null },
  to: Output = STANDARD,
): number {
  const { config, report: ofKeys } = converted(file);
  const report = [...ofKeys, ...(jaas === null ? [] : ofJaas(jaas))];
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

function ofJaas(file: string): readonly KeyReport[] {
  try {
    return jaasReport(readJaas(readText(file)));
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
