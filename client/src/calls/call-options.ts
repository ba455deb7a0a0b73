/**
 * Checks the options of a single call, in the same way for operations, helpers and recipes.
 *
 * `timeoutMs` is a number of milliseconds above 0, or 0 for no limit. As in `connect()`, an unknown
 * option is refused, because it is either misspelt or from another library: ignoring `timeout`
 * would mean to wait for ever, and ignoring `ephemeral` would create a persistent znode. Computes
 * only.
 */
import { OptionError } from '../api/errors.js';

/** The options that any call accepts, and those that recipes add and pass on to each other. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['signal', 'timeoutMs', 'session'],
  ...['mode', 'acl', 'ttlMs', 'version', 'watcher', 'recursive', 'pageSize', 'capacity'],
  'startAfter',
  ...['parents', 'parentAcl', 'policy'],
  ...['holder', 'priority', 'kind', 'payload', 'count', 'timeoutError'],
  ...['concurrency', 'onError', 'attempts'],
  ...['onLost', 'onSessionLost', 'attempt', 'path', 'idempotent', 'batchSize', 'deleteSelf'],
]);

const HINTS: Readonly<Record<string, string>> = {
  timeout: '; is timeoutMs meant?',
  ephemeral: "; is mode: 'ephemeral' meant?",
  sequential: "; is mode: 'persistentSequential' meant?",
  sequence: "; is mode: 'persistentSequential' meant?",
  ttl: '; is ttlMs meant?',
  watch: '; is watcher meant?',
  abortSignal: '; is signal meant?',
};

/** The longest delay that a timer of Node supports. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** Returns null if the options are valid. */
export function callOptionsError(options: object | undefined): OptionError | null {
  if (options === undefined) return null;
  if (options === null || typeof options !== 'object' || Array.isArray(options)) {
    return new OptionError('(all of them)', 'must be an object');
  }
  for (const name in options) {
    if (!KNOWN.has(name)) return new OptionError(name, `does not exist${HINTS[name] ?? ''}`);
  }
  return 'timeoutMs' in options ? timeoutError(options.timeoutMs) : null;
}

/** Throws the OptionError, for calls that pass on only a part of their options. */
export function checkCallOptions(options: object | undefined): void {
  const error = callOptionsError(options);
  if (error !== null) throw error;
}

/**
 * Throws OptionError for a name that is not one of `names`. `prefix` is the path of the options.
 */
export function checkOptionNames(options: object, names: readonly string[], prefix = ''): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new OptionError(`${prefix}${unknown}`, 'does not exist');
}

/** Returns null for undefined and for a valid timeout. */
export function timeoutError(timeoutMs: unknown): OptionError | null {
  if (timeoutMs === undefined) return null;
  const isTime = typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= TIMEOUT_MS_MAX;
  if (isTime) return null;
  const shown = typeof timeoutMs === 'number' ? timeoutMs : typeof timeoutMs;
  return new OptionError(
    'timeoutMs',
    `is ${shown}, but must be from 0 (no limit) to ${TIMEOUT_MS_MAX}`,
  );
}
