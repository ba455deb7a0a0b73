/**
 * A znode as `/api/v1` tells of it, and what a caller may see of it. Pure.
 *
 * zxids and sessions are hex strings, because they have more digits than a number of JSON is safe
 * for; times are ms since 1970.
 */
import { type Acl, Perms, permsText, type Stat } from '@rookery/protocol';
import { prefixedHex } from '../../net/four-letter/format.js';
import { mayDo, type Requester } from '../../pipeline/access.js';

export type StatFacts = ReturnType<typeof statFacts>;

export function statFacts(stat: Stat) {
  const { ephemeralOwner, ctime, mtime, version, cversion, aversion } = stat;
  return {
    czxid: prefixedHex(stat.czxid),
    mzxid: prefixedHex(stat.mzxid),
    pzxid: prefixedHex(stat.pzxid),
    ctime: Number(ctime),
    mtime: Number(mtime),
    version,
    cversion,
    aversion,
    ephemeralOwner: Number(ephemeralOwner) === 0 ? null : prefixedHex(ephemeralOwner),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  };
}

export type Rights = ReturnType<typeof rightsAt>;

/** What the caller may do with a znode that has this ACL, as the console shows it. */
export function rightsAt(acl: readonly Acl[], requester: Requester) {
  const may = (perms: number): boolean => mayDo(requester, acl, perms);
  return {
    read: may(Perms.read),
    write: may(Perms.write),
    create: may(Perms.create),
    delete: may(Perms.delete),
    admin: may(Perms.admin),
  };
}

export interface AclFacts {
  readonly scheme: string;
  readonly id: string;
  readonly perms: string;
}

/** Null if the caller may not see the ACL; without the right to administer, digests are cut. */
export function aclFacts(acl: readonly Acl[], requester: Requester): readonly AclFacts[] | null {
  if (!mayDo(requester, acl, Perms.read | Perms.admin)) return null;
  const isWhole = mayDo(requester, acl, Perms.admin);
  return acl.map(({ scheme, id, perms }) => ({
    scheme,
    id: isWhole || scheme !== 'digest' ? id : id.replace(/:.*/s, ':x'),
    perms: permsText(perms),
  }));
}
