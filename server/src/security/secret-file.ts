/**
 * Reads files with secrets: private keys, passphrases, shared secrets, lists of users.
 *
 * A file that other users of the machine can read or change is never used, on the client port and
 * on the peer port alike. The mode is checked on the open file whose bytes are returned; a file has
 * a bound; a message names the file and the remedy, and never a byte of its content. The rule for
 * the mode is PostgreSQL's for its keys: only the owner may have access, except that a file of
 * root's may be read by its group, as container platforms mount secrets. Reads synchronously,
 * because secrets are small and are read at the start and when they change.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { errorMessage } from '@rookery/protocol';
import { readOpenUpTo } from '../config/bounded-file.js';
import { OperatorError } from '../config/operator-error.js';

/** Far above any certificate chain, list of authorities or list of users. */
const SECRET_BYTES_MAX = 1 << 20;
const GROUP_WRITES_OR_RUNS = 0o030;
const GROUP = 0o070;
const OTHERS = 0o007;

/**
 * Returns the content of the file. `what` names it in messages and begins a sentence, such as "The
 * private key". Throws OperatorError if the file cannot be read, is none, is empty, is larger than
 * 1 MiB, or if others than its owner have access to it.
 */
export function readSecretFile(path: string, what: string): Buffer {
  return readBounded(path, what, (stats) => accessProblem(path, what, stats));
}

/** The same for a file that is no secret, such as a certificate: its mode does not matter. */
export function readPublicFile(path: string, what: string): Buffer {
  return readBounded(path, what, () => null);
}

/**
 * Returns the only line of a file with a secret, such as a passphrase, without its line end. Throws
 * OperatorError as `readSecretFile` does, and if there are several lines or an empty one.
 */
export function readSecretLine(path: string, what: string): string {
  const line = readSecretFile(path, what)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (line !== '' && !/[\r\n]/.test(line)) return line;
  throw new OperatorError(`${what} in ${path} must be the only line of the file.`);
}

function readBounded(path: string, what: string, judge: (stats: Stats) => string | null): Buffer {
  let file: number | null = null;
  try {
    // Opening a named pipe would otherwise wait for a writer.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    const problem = judge(stats) ?? shapeProblem(path, what, stats);
    if (problem !== null) throw new OperatorError(problem);
    return readWhole(file, { path, what });
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${what} ${path} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
    });
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** A file may grow while it is read: what counts is what comes. */
function readWhole(file: number, { path, what }: { path: string; what: string }): Buffer {
  const content = readOpenUpTo(file, SECRET_BYTES_MAX);
  if (content === null) throw new OperatorError(tooLarge(path, what));
  if (content.length === 0) throw new OperatorError(`${what} ${path} is empty.`);
  return content;
}

function shapeProblem(path: string, what: string, stats: Stats): string | null {
  if (!stats.isFile()) return `${what} ${path} is not a file.`;
  return stats.size > SECRET_BYTES_MAX ? tooLarge(path, what) : null;
}

function tooLarge(path: string, what: string): string {
  return `${what} ${path} is larger than ${SECRET_BYTES_MAX} bytes.`;
}

/** A sentence if other users have access to the secret; null if not. */
function accessProblem(path: string, what: string, { mode, uid }: Stats): string | null {
  // Windows has neither modes nor user ids.
  const own = process.getuid?.();
  if (own === undefined) return null;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  const remedy = `Only its owner may have access to it: chmod 600 ${path}`;
  const forbidden = OTHERS | (uid === 0 ? GROUP_WRITES_OR_RUNS : GROUP);
  if ((mode & forbidden) !== 0) {
    return `${what} ${path} is open to other users (its mode is ${shown}). ${remedy}`;
  }
  if (uid === own || uid === 0 || own === 0) return null;
  return `${what} ${path} belongs to another user (uid ${uid}), who can change it.`;
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'this process may not read it';
    default:
      return errorMessage(error);
  }
}
