/**
 * An ACL list as ZooKeeper's snapshots and logs have it.
 */
import { type ByteCursor, FIELD_BYTES_MAX, FileError } from './byte-cursor.js';
import type { AclEntry } from './snapshot-node.js';

/** More than fit into a request. */
const ENTRIES_MAX = 1 << 20;

export function readAclList(cursor: ByteCursor): readonly AclEntry[] {
  const entries: AclEntry[] = [];
  const from = cursor.position;
  for (let left = cursor.count('the entries of an ACL', 12); left > 0; left--) {
    const perms = cursor.int('an ACL');
    const scheme = cursor.text('the scheme of an ACL');
    entries.push({ perms, scheme, id: cursor.text('the id of an ACL') });
    if (cursor.position - from > FIELD_BYTES_MAX || entries.length > ENTRIES_MAX) {
      const bounds = `${ENTRIES_MAX} entries or ${FIELD_BYTES_MAX} bytes`;
      throw new FileError(`an ACL has more than ${bounds}, which is more than can be read`, from);
    }
  }
  return entries;
}
