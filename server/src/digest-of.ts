/**
 * ZooKeeper's digest scheme: what an ACL holds instead of a password.
 */
import { createHash } from 'node:crypto';

/** `user:` and the base64 SHA-1 of `user:password`. */
export function digestOf(userAndPassword: string): string {
  const user = userAndPassword.split(':', 1).join();
  return `${user}:${createHash('sha1').update(userAndPassword).digest('base64')}`;
}
