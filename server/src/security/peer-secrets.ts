/**
 * Reads the secrets that members share from the file that `peerAuth` names.
 *
 * A line is a secret: one, or two during a change, when every member accepts both. A change of the
 * file is followed without a restart; if the file becomes invalid, the former secrets stay in use,
 * and the problem is logged. Called by `member-security.ts`,
 * and by the check of a config file.
 */
import type { Logger } from 'pino';
import { OperatorError } from '../config/operator-error.js';
import { readSecretFile } from './secret-file.js';
import { WatchedFiles, type WatchTimers } from './watched-files.js';

/** Below this a secret that a person made up could be guessed from a recorded handshake. */
const CHARACTERS_MIN = 32;
const CHARACTERS_MAX = 1024;
const SECRETS_MAX = 2;

/** Throws OperatorError with one sentence that names the file. */
export function readPeerSecrets(path: string): readonly Uint8Array[] {
  const lines = readSecretFile(path, 'The secret of peerAuth').toString('utf8').split(/\r?\n/);
  const secrets = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (secrets.length < 1 || secrets.length > SECRETS_MAX) {
    throw new OperatorError(
      `The secret of peerAuth ${path} has ${secrets.length} lines: expected one secret, or the ` +
        'former and the next one.',
    );
  }
  const wrong = secrets.find(({ length }) => length < CHARACTERS_MIN || length > CHARACTERS_MAX);
  if (wrong !== undefined) {
    throw new OperatorError(
      `The secret of peerAuth ${path} has a line of ${wrong.length} characters: expected ` +
        `${CHARACTERS_MIN} to ${CHARACTERS_MAX}, as of openssl rand -base64 32.`,
    );
  }
  return secrets.map((secret) => Buffer.from(secret, 'utf8'));
}

/** Follows the file. Throws what `readPeerSecrets` does. */
export function watchedPeerSecrets(
  path: string,
  { timers, logger }: { readonly timers: WatchTimers; readonly logger: Logger },
): WatchedFiles<readonly Uint8Array[]> {
  const load = () => readPeerSecrets(path);
  return new WatchedFiles('the secret of peerAuth', [path], load, timers, logger);
}
