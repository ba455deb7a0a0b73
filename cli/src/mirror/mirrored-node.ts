/**
 * A znode as a mirror reads it at either end, and which parts of it can be copied.
 *
 * Data, ACL and kind are copied. Zxids, times and versions belong to each ensemble, and an
 * ephemeral belongs to a session of its ensemble.
 */
import { type Acl, type Client, NoNodeError, type Stat } from '@rookery/client';
import { ownerKind } from '@rookery/server';

export interface MirroredNode {
  readonly kind: 'persistent' | 'container' | 'ttl' | 'ephemeral';
  readonly data: Buffer | null;
  readonly acl: readonly Acl[];
  /** 0 unless it is a TTL znode. */
  readonly ttlMs: number;
  readonly stat: Stat;
}

const HIDDEN_DIGEST = ':x';
const TTL_MS_MASK = (1n << 40n) - 1n;

/** Null if there is none. Rejects like the client, for instance with NoAuthError. */
export async function readNode(client: Client, path: string): Promise<MirroredNode | null> {
  try {
    const [{ data, stat }, { acl }] = await Promise.all([
      client.getData(path),
      client.getAcl(path),
    ]);
    const { ephemeralOwner } = stat;
    const owner = ownerKind(BigInt.asIntN(64, ephemeralOwner));
    const kind = { none: 'persistent', session: 'ephemeral' } as const;
    const ttlMs = owner === 'ttl' ? Number(ephemeralOwner & TTL_MS_MASK) : 0;
    const known = owner === 'none' || owner === 'session' ? kind[owner] : owner;
    return { kind: known, data, acl, ttlMs, stat };
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}

export function sameData(one: MirroredNode, other: MirroredNode): boolean {
  if (one.data === null || other.data === null) return one.data === other.data;
  return one.data.equals(other.data);
}

/**
 * The order of the entries means nothing. Where one side does not show its digests, their users
 * are compared.
 */
export function sameAcl(one: MirroredNode, other: MirroredNode): boolean {
  if (aclText(one.acl) === aclText(other.acl)) return true;
  if (!hidesDigests(one.acl) && !hidesDigests(other.acl)) return false;
  return aclText(one.acl.map(withoutDigest)) === aclText(other.acl.map(withoutDigest));
}

/**
 * Returns true if the server replaced the digests in the ACL, as it does for clients without ADMIN
 * permission. A copy of such an ACL would match no user.
 */
export function hidesDigests(acl: readonly Acl[]): boolean {
  return acl.some(({ scheme, id }) => scheme === 'digest' && id.endsWith(HIDDEN_DIGEST));
}

function withoutDigest(entry: Acl): Acl {
  if (entry.scheme !== 'digest') return entry;
  return { ...entry, id: `${entry.id.split(':')[0]}${HIDDEN_DIGEST}` };
}

/** The kind of a znode never changes, so a kind that differs is reported and not changed. */
export function sameKind(one: MirroredNode, other: MirroredNode): boolean {
  return one.kind === other.kind && one.ttlMs === other.ttlMs;
}

/**
 * The number of children ever created, from which sequential znodes get their numbers.
 *
 * It is derived from the cversion, a 32-bit count of creates and deletes, which is negative from
 * 2^30 children on and wraps around at 2^31. Beyond that, the result is modulo 2^31.
 */
export function sequenceOf({ cversion, numChildren }: Pick<Stat, 'cversion' | 'numChildren'>) {
  return (cversion + numChildren) >>> 1;
}

function aclText(acl: readonly Acl[]): string {
  return acl
    .map(({ perms, scheme, id }) => JSON.stringify([perms, scheme, id]))
    .sort()
    .join();
}

export function parentOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end <= 0 ? '/' : path.slice(0, end);
}
