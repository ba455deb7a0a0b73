/**
 * The options of a single call, checked the same way everywhere: of operations, of helpers and of
 * recipes that wait.
 *
 * `timeoutMs` is a number of milliseconds above 0, or 0 for no limit. An option that no call has is
 * refused, as `connect()` does, for it is a name misspelt or of another library: `timeout` would
 * wait for ever, and `ephemeral` would create a znode that stays. Computes only.
 */
import { OptionError } from './errors.js';

/** What any call may be given, and what recipes add for each other. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['signal', 'timeoutMs', 'session'],
  ...['mode', 'acl', 'ttlMs', 'version', 'watcher', 'recursive', 'pageSize', 'capacity'],
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

/** The longest time that a timer of the system has. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** Null when they may be used. */
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

/** Throws the OptionError, for calls that pass on a part of their options only. */
export function checkCallOptions(options: object | undefined): void {
  const error = callOptionsError(options);
  if (error !== null) throw error;
}

/** Throws OptionError for a name that is none of `names`; `prefix` is what the options lie in. */
export function checkOptionNames(options: object, names: readonly string[], prefix = ''): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new OptionError(`${prefix}${unknown}`, 'does not exist');
}

/** Null for undefined and what is a time. */
export function timeoutError(timeoutMs: unknown): OptionError | null {
  if (timeoutMs === undefined) return null;
  const isTime = typeof timeoutMs === 'number' && timeoutMs >= 0 && timeoutMs <= TIMEOUT_MS_MAX;
  if (isTime) return null;
  const shown = typeof timeoutMs === 'number' ? timeoutMs : typeof timeoutMs;
  return new OptionError('timeoutMs', `is ${shown}, not from 0 (no limit) to ${TIMEOUT_MS_MAX}`);
}
