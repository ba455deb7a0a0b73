/**
 * Options of a test ensemble, and the configuration made from them.
 *
 * The settings are those of the config file, checked by the same rules. Defaults that differ from
 * the product's are listed here with the reason.
 */
import type { Logger } from 'pino';
import { type Config, ConfigError, type ServerAddress } from '../config/config.js';
import { checkSettings } from '../config/config-schema.js';
import type { Tuning } from '../config/tuning.js';
import { EnsembleError } from './ensemble-error.js';

/**
 * Settings of the config file that tests may choose, the same for every member; `Config` explains
 * each. Addresses and directories are the ensemble's own affair.
 */
export type TestSettings = Partial<Omit<Config, 'dataDir' | 'dataLogDir' | 'servers' | 'logLevel'>>;

export interface TestEnsembleOptions {
  /** Members, 1 to 9; default 3. Three stand the loss of one; one is a standalone server. */
  readonly size?: number;
  /**
   * Settings that differ from the defaults, which are those of the config file but for
   * `peerHeartbeatMs` (50), `peerTimeoutMs` (500) and `minSessionTimeoutMs` (200): tests of
   * failures shall not take longer than they must. Time in which the whole process is blocked, as
   * while modules are compiled, does not count against these limits. A session expires its timeout
   * plus twice `peerTimeoutMs` after its client was last heard from.
   */
  readonly settings?: TestSettings;
  /**
   * Sizes and times that no config file has, such as how often containers and TTL znodes are looked
   * through (`containerCheckMs`, default 60 s).
   */
  readonly tuning?: Tuning;
  /**
   * Where the members keep their data, each in a directory named by its id; made if it is not
   * there, and left when the ensemble stops. Default: a temporary directory, removed by `stop()`.
   */
  readonly dataDir?: string;
  /** A pino logger; each member's lines have its id as `member`. Default: nothing is logged. */
  readonly logger?: Logger;
  /** How long it waits for anything before it rejects with `timedOut`, ms; default 30,000. */
  readonly timeoutMs?: number;
}

const SIZE_MAX = 9;
const TEST_DEFAULTS: TestSettings = {
  peerHeartbeatMs: 50,
  peerTimeoutMs: 500,
  minSessionTimeoutMs: 200,
};

/** Throws EnsembleError. */
export function sizeOf(options: TestEnsembleOptions): number {
  const size = options.size ?? 3;
  if (Number.isInteger(size) && size >= 1 && size <= SIZE_MAX) return size;
  const problem = `expected a whole number from 1 to ${SIZE_MAX}, got ${size}`;
  throw new EnsembleError('invalidOption', `size: ${problem}`);
}

/** Throws EnsembleError with every problem of the settings. */
export function configOf(
  options: TestEnsembleOptions,
  dataDir: string,
  servers: readonly ServerAddress[],
): Config {
  const { fourLetterWords, ...rest } = { ...TEST_DEFAULTS, ...options.settings };
  const words = fourLetterWords === undefined ? {} : { fourLetterWords: textOf(fourLetterWords) };
  const { settings, problems } = checkSettings({ ...rest, ...words, dataDir, servers });
  if (settings === null) {
    const { message } = new ConfigError('the settings of a test ensemble', problems);
    throw new EnsembleError('invalidOption', message);
  }
  return { ...settings, dataDir, dataLogDir: dataDir };
}

/** The setting in the form of the config file. */
function textOf(words: Config['fourLetterWords']): string {
  return words === '*' ? words : words.join(',');
}
