/**
 * The operations that a session of the model-based test can request, as plain data, and how they
 * are printed.
 *
 * Paths are relative to the sequence's own prefix; a leading `!` makes one absolute, and a leading
 * `?` is the place of the quota for the path that follows. The model computes an operation's
 * outcome, wire.ts makes frames of it, generators.ts generates it. This file has no behaviour.
 */

export const ACLS = {
  open: [{ perms: 31, scheme: 'world', id: 'anyone' }],
  readOnly: [{ perms: 1, scheme: 'world', id: 'anyone' }],
  noRead: [{ perms: 30, scheme: 'world', id: 'anyone' }],
  noDelete: [{ perms: 23, scheme: 'world', id: 'anyone' }],
  alice: [{ perms: 31, scheme: 'digest', id: 'alice:8y0lhh/7xkdEiwhX7vo9i+/Nmzc=' }],
  aliceAdmin: [
    { perms: 16, scheme: 'digest', id: 'alice:8y0lhh/7xkdEiwhX7vo9i+/Nmzc=' },
    { perms: 15, scheme: 'world', id: 'anyone' },
  ],
  bobAndReaders: [
    { perms: 31, scheme: 'digest', id: 'bob:4rsXV9JgUbFl9ZE40xENilxlRV8=' },
    { perms: 1, scheme: 'world', id: 'anyone' },
    { perms: 1, scheme: 'world', id: 'anyone' },
  ],
  auth: [{ perms: 31, scheme: 'auth', id: '' }],
  here: [{ perms: 31, scheme: 'ip', id: '127.0.0.0/8' }],
  elsewhere: [{ perms: 31, scheme: 'ip', id: '10.1.2.3' }],
  /** The client's own address is outside the second range, by one bit. */
  hereExactly: [
    { perms: 3, scheme: 'ip', id: '127.0.0.1' },
    { perms: 31, scheme: 'ip', id: '127.0.0.2/31' },
  ],
  hereAndNext: [{ perms: 31, scheme: 'ip', id: '127.0.0.0/31' }],
  badAddress: [{ perms: 31, scheme: 'ip', id: '300.1.2.3' }],
  badRange: [{ perms: 31, scheme: 'ip', id: '127.0.0.1/33' }],
  nothing: [{ perms: 0, scheme: 'world', id: 'anyone' }],
  moreThanAll: [{ perms: 0x7fffffff, scheme: 'world', id: 'anyone' }],
  empty: [],
  none: null,
  unknownScheme: [{ perms: 31, scheme: 'nope', id: 'x' }],
  badWorld: [{ perms: 31, scheme: 'world', id: 'somebody' }],
  badDigest: [{ perms: 31, scheme: 'digest', id: 'nocolon' }],
} as const;
export type AclName = keyof typeof ACLS;

/**
 * Digest users: the string that is sent with auth, and the id that results. The members know
 * `super`.
 */
export const USERS = {
  alice: { secret: 'alice:wonder', id: 'alice:8y0lhh/7xkdEiwhX7vo9i+/Nmzc=' },
  bob: { secret: 'bob:builder', id: 'bob:4rsXV9JgUbFl9ZE40xENilxlRV8=' },
  super: { secret: 'super:control', id: 'super:H8A9p8zmEqGes/QUR4WeRDKL+Xk=' },
} as const;
export type UserName = keyof typeof USERS;

export type CreateKind = 'create' | 'create2' | 'createContainer' | 'createTtl';

export interface CreateOp {
  readonly op: CreateKind;
  readonly path: string;
  readonly data: string | null;
  readonly acl: AclName;
  readonly flags: number;
  /** For createTtl only. */
  readonly ttlMs: number;
}
export interface VersionOp {
  readonly op: 'delete' | 'check';
  readonly path: string;
  readonly version: number;
}
export interface SetDataOp {
  readonly op: 'setData';
  readonly path: string;
  readonly data: string | null;
  readonly version: number;
}
/** The operations that a multi may contain; a check occurs nowhere else. */
export type MultiOp = CreateOp | VersionOp | SetDataOp;

export interface SetAclOp {
  readonly op: 'setAcl';
  readonly path: string;
  readonly acl: AclName;
  readonly version: number;
}
export interface WatchingReadOp {
  readonly op: 'exists' | 'getData' | 'getChildren' | 'getChildren2';
  readonly path: string;
  readonly watch: boolean;
}
export interface PathOp {
  readonly op: 'getAcl' | 'getAllChildrenNumber' | 'getEphemerals' | 'sync';
  readonly path: string;
}
export interface PageOp {
  readonly op: 'getChildrenPage';
  readonly path: string;
  readonly startAfter: string;
  readonly limit: number;
  readonly watch: boolean;
}
export interface WatchesOp {
  readonly op: 'checkWatches' | 'removeWatches';
  readonly path: string;
  readonly type: number;
}
export interface AddWatchOp {
  readonly op: 'addWatch';
  readonly path: string;
  readonly mode: number;
}
export interface SetWatchesOp {
  readonly op: 'setWatches' | 'setWatches2';
  /** The number of writes of the sequence before the last one that this session knows of. */
  readonly writesBack: number;
  readonly data: readonly string[];
  readonly exist: readonly string[];
  readonly child: readonly string[];
  /** For setWatches2 only. */
  readonly persistent: readonly string[];
  readonly recursive: readonly string[];
}
export interface MultiReadOp {
  readonly op: 'multiRead';
  readonly reads: readonly { readonly op: 'getData' | 'getChildren'; readonly path: string }[];
}

export type Operation =
  | MultiOp
  | SetAclOp
  | WatchingReadOp
  | PathOp
  | PageOp
  | WatchesOp
  | AddWatchOp
  | SetWatchesOp
  | MultiReadOp
  | { readonly op: 'multi'; readonly ops: readonly MultiOp[] }
  | { readonly op: 'whoAmI' }
  | { readonly op: 'closeSession' }
  | { readonly op: 'auth'; readonly user: UserName };

/** The part of the members' settings that these users and limits require. */
export const MEMBER_SETTINGS = { superDigest: USERS.super.id, enforceQuota: true };

/** Converts the plan's form of a path to an absolute path. */
export function placePath(prefix: string, path: string): string {
  if (path.startsWith('?')) return `/zookeeper/quota${prefix}${path.slice(1)}`;
  return path.startsWith('!') ? path.slice(1) : prefix + path;
}

/** One short line: `create(/a "x" flags=1)`. */
export function describeOperation(operation: Operation): string {
  const { op, ...fields } = operation;
  const words = Object.entries(fields).map(([name, value]) => describeField(op, name, value));
  return `${op}(${words.filter((word) => word !== '').join(' ')})`;
}

function describeField(op: string, name: string, value: unknown): string {
  if (name === 'path') return value === '' ? '.' : JSON.stringify(value).slice(1, -1);
  if (name === 'data' && !Array.isArray(value)) return JSON.stringify(value);
  if (name === 'ttlMs' && op !== 'createTtl') return '';
  if (name === 'acl' && value === 'open') return '';
  if (name === 'ops' || name === 'reads') return describeList(value);
  if (typeof value === 'boolean') return value ? name : '';
  if (Array.isArray(value))
    return value.length === 0 ? '' : `${name}=[${value.map((path) => path || '.').join(' ')}]`;
  return `${name}=${String(value)}`;
}

function describeList(value: unknown): string {
  return Array.isArray(value) ? value.map(describeOperation).join(', ') : '';
}
