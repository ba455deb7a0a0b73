/**
 * An ACL list as ZooKeeper's snapshots and logs have it.
 */
import type { ByteCursor } from './byte-cursor.js';
import type { AclEntry } from './snapshot-node.js';

export function readAclList(cursor: ByteCursor): readonly AclEntry[] {
  const entries: AclEntry[] = [];
  for (let left = cursor.count('the entries of an ACL', 12); left > 0; left--) {
    const perms = cursor.int('an ACL');
    const scheme = cursor.text('the scheme of an ACL');
    entries.push({ perms, scheme, id: cursor.text('the id of an ACL') });
  }
  return entries;
}
