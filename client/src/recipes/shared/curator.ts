/**
 * The names of znodes and the formats of data that Curator and kazoo use, so that programs in other
 * languages can share locks, elections and queues with ours on the same paths. No I/O, except to
 * ask the system for its address. Used by every recipe.
 */
import { networkInterfaces } from 'node:os';
import { bufferOf } from '@rookery/protocol';

/** Parts of names of znodes. The sequence number follows directly. */
export const CuratorName = {
  lock: 'lock-',
  read: '__READ__',
  write: '__WRIT__',
  lease: 'lease-',
  latch: 'latch-',
  /** The directories of a semaphore. */
  locksDirectory: 'locks',
  leasesDirectory: 'leases',
  /** A child of a double barrier. */
  ready: 'ready',
} as const;

export const KazooName = { lock: '__lock__', readLock: '__rlock__' } as const;

/** Writing this data to a holder's znode asks the holder to give its lock back. */
export const REVOKE_MESSAGE = '__REVOKE__';

/** The prefix of a name by which its creator recognizes it: `_c_<uuid>-`, then `base`. */
export function curatorPrefix(uuid: string, base: string): string {
  return `_c_${uuid}-${base}`;
}

/** The prefix of kazoo's names: the uuid without dashes, then `base`. */
export function kazooPrefix(uuid: string, base: string): string {
  return `${uuid.replaceAll('-', '')}${base}`;
}

/** 4 bytes, big-endian, as in SharedCount and DistributedAtomicInteger. */
export function encodeInt32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Null if the data does not have exactly 4 bytes. */
export function decodeInt32(data: Uint8Array | null): number | null {
  if (data?.length !== 4) return null;
  return bufferOf(data).readInt32BE(0);
}

/** 8 bytes, big-endian, as in DistributedAtomicLong. */
export function encodeInt64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** Null if the data does not have exactly 8 bytes. */
export function decodeInt64(data: Uint8Array | null): bigint | null {
  if (data?.length !== 8) return null;
  return bufferOf(data).readBigInt64BE(0);
}

/** The address of this machine, for people to read; Curator's default data of a contender. */
export function localAddress(): string {
  for (const addresses of Object.values(networkInterfaces())) {
    for (const { address, family, internal } of addresses ?? []) {
      if (family === 'IPv4' && !internal) return address;
    }
  }
  return '127.0.0.1';
}
