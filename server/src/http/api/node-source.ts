/**
 * Where `/api/v1` takes znodes from: the state that a member has applied, or, in `rookery console`,
 * a client of any ensemble that speaks ZooKeeper's protocol.
 *
 * What a source cannot know is null. Every method throws HttpError for what the caller may not
 * have: 404 for a znode that does not exist, 403 where an ACL forbids it, 503 where nobody serves.
 */
import type { Acl, Stat } from '@rookery/protocol';
import type { Caller } from './caller.js';
import type { AclFacts, Rights, StatFacts } from './node-facts.js';

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
