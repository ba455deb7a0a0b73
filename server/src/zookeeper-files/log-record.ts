/**
 * Decodes the transactions of ZooKeeper's log, as its releases 3.4 to 3.9 write them.
 *
 * Only what changes znodes is decoded: sessions are dropped by an import. Types and layouts are
 * those of `zookeeper.jute`; the digest behind a transaction is there from 3.6 on. Throws FileError
 * for a record that ends too early or has an unknown type.
 */

import { ByteCursor, FileError } from './byte-cursor.js';
import { type AclEntry, readAclList } from './snapshot-node.js';

export interface LogRecord {
  readonly session: bigint;
  readonly zxid: bigint;
  /** ms since 1970. */
  readonly time: bigint;
  readonly changes: readonly NodeChange[];
  /** Whether the session begins. */
  readonly begins: boolean;
  /** The session ends: the paths that it deletes, as far as they are listed. */
  readonly closes: readonly string[] | null;
  /** The digest of the tree after the transaction; null where none is written. */
  readonly digest: bigint | null;
}

export type NodeChange =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data: Buffer | null;
      readonly acl: readonly AclEntry[];
      readonly owner: 'none' | 'session' | 'container';
      readonly ttlMs: bigint | null;
      /** The stored cversion of the parent afterwards; -1 for one more. */
      readonly parentCversion: number;
      /** Whether a create of a znode that is there already replaces its ACL, as ZooKeeper does. */
      readonly replacesAcl: boolean;
    }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'setData';
      readonly path: string;
      readonly data: Buffer | null;
      readonly version: number;
    }
  | {
      readonly kind: 'setAcl';
      readonly path: string;
      readonly acl: readonly AclEntry[];
      readonly version: number;
    };

export const TYPE = {
  error: -1,
  createSession: -10,
  closeSession: -11,
  create: 1,
  delete: 2,
  setData: 5,
  setAcl: 7,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  createContainer: 19,
  deleteContainer: 20,
  createTtl: 21,
} as const;

const DIGEST_BYTES = 12;
const DIGEST_VERSION = 2;
const NO_CHANGES: readonly NodeChange[] = [];

export function decodeLogRecord(bytes: Buffer): LogRecord {
  const cursor = new ByteCursor(bytes);
  const session = cursor.long('a transaction');
  cursor.int('a transaction');
  const zxid = cursor.long('a transaction');
  const time = cursor.long('a transaction');
  const type = cursor.int('a transaction');
  const closes = type === TYPE.closeSession ? readClosed(cursor) : null;
  const changes = closes === null ? readChanges(type, cursor) : NO_CHANGES;
  const begins = type === TYPE.createSession;
  return { session, zxid, time, changes, begins, closes, digest: readDigest(cursor) };
}

function readChanges(type: number, cursor: ByteCursor): readonly NodeChange[] {
  if (type === TYPE.multi) return readMulti(cursor);
  const change = readChange(type, cursor);
  return change === null ? NO_CHANGES : [change];
}

/** Null for what changes no znode. */
function readChange(type: number, cursor: ByteCursor): NodeChange | null {
  switch (type) {
    case TYPE.create:
    case TYPE.create2:
    case TYPE.createContainer:
    case TYPE.createTtl:
      return readCreate(type, cursor);
    case TYPE.delete:
    case TYPE.deleteContainer:
      return { kind: 'delete', path: cursor.text('a path') };
    case TYPE.setData:
    case TYPE.reconfig: {
      const path = cursor.text('a path');
      const data = cursor.buffer('data');
      return { kind: 'setData', path, data, version: cursor.int('a version') };
    }
    case TYPE.setAcl: {
      const path = cursor.text('a path');
      const acl = readAclList(cursor);
      return { kind: 'setAcl', path, acl, version: cursor.int('a version') };
    }
    case TYPE.check:
      cursor.text('a path');
      cursor.int('a version');
      return null;
    case TYPE.error:
    case TYPE.createSession:
      cursor.int('a transaction');
      return null;
    default:
      throw new FileError(`a transaction has the unknown type ${type}`, cursor.offset);
  }
}

function readCreate(type: number, cursor: ByteCursor): NodeChange {
  const path = cursor.text('a path');
  const data = cursor.buffer('data');
  const acl = readAclList(cursor);
  const isPlain = type === TYPE.create || type === TYPE.create2;
  const isEphemeral = isPlain && cursor.byte('a create') !== 0;
  // The oldest releases did not write the parent's version.
  const parentCversion = cursor.left >= 4 ? cursor.int('a version') : -1;
  const ttlMs = type === TYPE.createTtl ? cursor.long('a time to live') : null;
  const special = type === TYPE.createContainer ? 'container' : 'none';
  const owner = isEphemeral ? 'session' : special;
  const replacesAcl = type === TYPE.create;
  return { kind: 'create', path, data, acl, owner, ttlMs, parentCversion, replacesAcl };
}

/**
 * Each operation has a buffer of its own, which may hold another record than its type says: where a
 * multi failed, ZooKeeper writes errors over the types. Such a multi changes nothing.
 */
function readMulti(cursor: ByteCursor): readonly NodeChange[] {
  const changes: NodeChange[] = [];
  let failed = false;
  for (let left = cursor.count('the operations of a multi', 8); left > 0; left--) {
    const type = cursor.int('an operation of a multi');
    const body = cursor.buffer('an operation of a multi') ?? Buffer.alloc(0);
    if (type === TYPE.error) failed = true;
    if (failed) continue;
    const change = readChange(type, new ByteCursor(body));
    if (change !== null) changes.push(change);
  }
  return failed ? NO_CHANGES : changes;
}

/** From 3.6 on the paths are listed; an older record may be followed by a digest alone. */
function readClosed(cursor: ByteCursor): readonly string[] {
  if (cursor.left === 0) return [];
  if (cursor.left === DIGEST_BYTES && cursor.peekInt() === DIGEST_VERSION) return [];
  const paths: string[] = [];
  for (let left = cursor.count('the paths of a session', 4); left > 0; left--) {
    paths.push(cursor.text('a path'));
  }
  return paths;
}

function readDigest(cursor: ByteCursor): bigint | null {
  if (cursor.left !== DIGEST_BYTES) return null;
  const version = cursor.int('a digest');
  const digest = BigInt.asUintN(64, cursor.long('a digest'));
  return version === DIGEST_VERSION ? digest : null;
}
