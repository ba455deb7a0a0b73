/**
 * The source of znodes for `/api/v1`: the state that a member has applied, or, in `rookery
 * console`, a client of any ensemble that speaks ZooKeeper's protocol. Also writes facts of a znode
 * as JSON.
 *
 * What a source cannot know is null. Every method throws HttpError for what the caller may not
 * have: 404 for a znode that does not exist, 403 where an ACL forbids it, 503 where no member
 * serves.
 */
import { type Acl, Perms, permsText, type Stat } from '@rookery/protocol';
import { prefixedHex } from '../../net/four-letter/format.js';
import { mayDo, type Requester } from '../../pipeline/access.js';
import type { Caller } from './caller.js';

/** A value with what HTTP's headers tell of it. */
export interface Versioned<T> {
  readonly value: T;
  readonly version: number;
  /** Up to where the one that answers has applied, in hex; null if it does not say. */
  readonly zxid: string | null;
}

export interface NodeFacts {
  readonly path: string;
  readonly mode: string;
  readonly ttlMs: number | null;
  readonly stat: StatFacts;
  readonly descendants: number | null;
  readonly subtreeBytes: number | null;
  readonly acl: readonly AclFacts[] | null;
  readonly may: Rights;
}

export interface ChildFacts {
  readonly name: string;
  /** Null for a child that the caller may not read. */
  readonly mode: string | null;
  readonly stat: StatFacts | null;
}

export interface ChildPage {
  readonly names: readonly string[];
  /** With mode and Stat, where they were asked for. */
  readonly children: readonly ChildFacts[] | null;
  readonly hasMore: boolean;
  readonly numChildren: number;
  readonly cversion: number;
}

export interface PageAsked {
  readonly after: string;
  readonly limit: number;
  readonly withStat: boolean;
}

export interface AclOf {
  /** Null if the caller may not see it. */
  readonly acl: readonly AclFacts[] | null;
  readonly may: Rights;
}

type Answer<T> = Versioned<T> | Promise<Versioned<T>>;

export interface NodeSource {
  facts(path: string, caller: Caller): Answer<NodeFacts>;
  data(path: string, caller: Caller): Answer<Uint8Array>;
  /** Its version is that of the ACL. */
  acl(path: string, caller: Caller): Answer<AclOf>;
  children(path: string, asked: PageAsked, caller: Caller): Answer<ChildPage>;
}

export interface NewNode {
  readonly path: string;
  readonly mode: NodeMode;
  /** 0 for a mode without a time to live. */
  readonly ttlMs: number;
  readonly data: Uint8Array;
  readonly acl: readonly Acl[];
}

/** Ephemerals are not made here: they would end with the request. */
export const NODE_MODES = [
  'persistent',
  'sequential',
  'container',
  'ttl',
  'ttl-sequential',
] as const;
export type NodeMode = (typeof NODE_MODES)[number];

/** Changes znodes as one caller. Versions are as ZooKeeper has them: -1 stands for any. */
export interface NodeWriter {
  create(what: NewNode): Promise<{ readonly path: string; readonly stat: Stat }>;
  setData(path: string, data: Uint8Array, version: number): Promise<Stat>;
  setAcl(path: string, acl: readonly Acl[], version: number): Promise<Stat>;
  remove(path: string, version: number): Promise<void>;
  /** What it is by now; null if the caller may not read that. */
  now(path: string): Promise<Stat | null>;
  /** Nothing is asked of it afterwards. */
  end(): void;
}

/** Throws HttpError 503 where nothing can be written. */
export type OpenWriter = (caller: Caller) => Promise<NodeWriter>;

type StatFacts = ReturnType<typeof statFacts>;

/**
 * Shows a znode in `/api/v1`, as far as a caller may see it. Pure.
 *
 * zxids and sessions are hex strings, because they have more digits than a number of JSON is safe
 * for; times are ms since 1970.
 */
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

type Rights = ReturnType<typeof rightsAt>;

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
