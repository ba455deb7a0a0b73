/** The stat of a znode that the caller may not read: all zeros. Compared by identity. */
import type { Stat } from '@rookery/client';

export const UNKNOWN_STAT: Stat = {
  czxid: 0n,
  mzxid: 0n,
  pzxid: 0n,
  ctime: 0,
  mtime: 0,
  ephemeralOwner: 0n,
  version: 0,
  cversion: 0,
  aversion: 0,
  dataLength: 0,
  numChildren: 0,
};
