/**
 * What Curator (and kazoo) put on the wire: names of znodes and formats of their data, so that
 * programs in other languages exclude, elect and feed ours on the same paths. Facts only; no I/O
 * but asking the system for its own address. Used by every recipe.
 */
import { networkInterfaces } from 'node:os';
import { bufferOf } from '@rookery/protocol';

/** Parts of znode names. The sequence number follows directly. */
export const CuratorName = {
  lock: 'lock-',
  read: '__READ__',
  write: '__WRIT__',
  lease: 'lease-',
  latch: 'latch-',
  /** Directories of a semaphore. */
  locksDirectory: 'locks',
  leasesDirectory: 'leases',
  /** Child of a double barrier. */
  ready: 'ready',
} as const;

export const KazooName = { lock: '__lock__', readLock: '__rlock__' } as const;

/** Data that, written to a holder's znode, asks it to give its lock back. */
export const REVOKE_MESSAGE = '__REVOKE__';

/** The start of a name by which its creator finds it again: `_c_<uuid>-`, then `base`. */
export function curatorPrefix(uuid: string, base: string): string {
  return `_c_${uuid}-${base}`;
}

/** kazoo's: the uuid without dashes, then `base`. */
export function kazooPrefix(uuid: string, base: string): string {
  return `${uuid.replaceAll('-', '')}${base}`;
}

/** Big-endian, 4 bytes: SharedCount, DistributedAtomicInteger. */
export function encodeInt32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Null for what is not exactly 4 bytes. */
export function decodeInt32(data: Uint8Array | null): number | null {
  if (data?.length !== 4) return null;
  return bufferOf(data).readInt32BE(0);
}

/** Big-endian, 8 bytes: DistributedAtomicLong. */
export function encodeInt64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** Null for what is not exactly 8 bytes. */
export function decodeInt64(data: Uint8Array | null): bigint | null {
  if (data?.length !== 8) return null;
  return bufferOf(data).readBigInt64BE(0);
}

/** Curator's default data of a contender: the address of this machine, for people to read. */
export function localAddress(): string {
  for (const addresses of Object.values(networkInterfaces())) {
    for (const { address, family, internal } of addresses ?? []) {
      if (family === 'IPv4' && !internal) return address;
    }
  }
  return '127.0.0.1';
}
