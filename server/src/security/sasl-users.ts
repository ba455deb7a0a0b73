/**
 * The file with the users of DIGEST-MD5: who they are, and what is kept of their passwords.
 *
 * A line is `user:zk-sasl-md5:` and the MD5 of `user:zk-sasl-md5:password` in hex, as the command
 * `htdigest` writes it, or `user:password` in clear. Either is as good as the password to whoever
 * reads it, so the file is a secret. Lines that are empty or begin with # do not count. Messages
 * name lines, never what they say.
 */
import { OperatorError } from '../config/operator-error.js';
import { REALM, secretOfPassword } from './digest-md5.js';
import { readSecretFile } from './secret-file.js';

const USERS_MAX = 100_000;
/** Neither may mean a host or a realm to a reader of ACLs, as in Kerberos. */
const USER = /^[^\s:@/"\\]{1,256}$/;
const PRINTABLE = /^[\x20-\x7e]*$/;
const DIGEST = new RegExp(`^([^:]*):${REALM}:([0-9a-fA-F]{32})$`);

/** Throws OperatorError for a file that cannot be used. */
export function readSaslUsers(path: string): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  const text = readSecretFile(path, 'The list of users').toString('utf8');
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/\r$/, '');
    if (line.trim() === '' || line.startsWith('#')) continue;
    const where = `Line ${index + 1} of the list of users ${path}`;
    const entry = entryOf(line);
    if (typeof entry === 'string') throw new OperatorError(`${where} ${entry}.`);
    if (users.has(entry.user))
      throw new OperatorError(`${where} names a user for the second time.`);
    users.set(entry.user, entry.secret);
    if (users.size > USERS_MAX) throw new OperatorError(`${where} is one too many: ${USERS_MAX}.`);
  }
  if (users.size === 0) throw new OperatorError(`The list of users ${path} has no user.`);
  return users;
}

/** A text says what is wrong. */
function entryOf(line: string): { readonly user: string; readonly secret: string } | string {
  if (!PRINTABLE.test(line)) return 'has characters other than printable ASCII';
  const digest = DIGEST.exec(line);
  const colon = line.indexOf(':');
  const user = line.slice(0, Math.max(colon, 0));
  if (!USER.test(user))
    return 'must begin with a user without blanks, @, / and quotes, and a colon';
  if (digest !== null) return { user, secret: (digest[2] ?? '').toLowerCase() };
  const password = line.slice(colon + 1);
  return password === '' ? 'has no password' : { user, secret: secretOfPassword(user, password) };
}
