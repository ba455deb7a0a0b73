/**
 * What an ACL lets everybody change: whoever reaches the client port, whether known or not.
 *
 * Everybody is `world:anyone`, and an `ip` range that has every address. To read is no change.
 * Pure; asked by the warning of an open root (driver/open-root.ts) and by `rookery acl audit`.
 */
import { Perms } from '@rookery/protocol';
import type { Acl } from '../state/txn.js';

const CHANGES = Perms.create | Perms.delete | Perms.write | Perms.admin;

/** The permissions to change something that everybody has; 0 for none. */
export function changesByEverybody(acl: readonly Acl[]): number {
  return acl.filter(isEverybody).reduce((all, { perms }) => all | perms, 0) & CHANGES;
}

function isEverybody({ scheme, id }: Acl): boolean {
  if (scheme === 'world') return true;
  return scheme === 'ip' && /\/0+$/.test(id);
}
