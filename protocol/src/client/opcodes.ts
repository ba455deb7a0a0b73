/**
 * The numbers of the client protocol: operations, create flags, permissions, watch events, states
 * and the reserved xids. Owns no behaviour but the names of the operations.
 */

export const OpCode = {
  notification: 0,
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  checkWatches: 17,
  removeWatches: 18,
  createContainer: 19,
  deleteContainer: 20,
  createTtl: 21,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  sasl: 102,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  /** Not ZooKeeper's: a page of a directory's names. */
  getChildrenPage: 10001,
  /** Not ZooKeeper's: raises the number of a znode's next sequential child. */
  raiseSequence: 10002,
  createSession: -10,
  closeSession: -11,
  error: -1,
} as const;
export type OpCode = (typeof OpCode)[keyof typeof OpCode];

const OPCODE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(OpCode).map(([name, code]) => [code, name]),
);

/** The name in `OpCode`, or undefined for a number that is no operation. */
export function opcodeName(opcode: number): string | undefined {
  return OPCODE_NAMES.get(opcode);
}

/** The `flags` of a create request. */
export const CreateFlag = {
  persistent: 0,
  ephemeral: 1,
  persistentSequential: 2,
  ephemeralSequential: 3,
  container: 4,
  persistentWithTtl: 5,
  persistentSequentialWithTtl: 6,
} as const;
export type CreateFlag = (typeof CreateFlag)[keyof typeof CreateFlag];

export function isCreateFlag(flags: number): flags is CreateFlag {
  return Number.isInteger(flags) && flags >= 0 && flags <= 6;
}

export function isSequentialFlag(flags: CreateFlag): boolean {
  return (
    flags === CreateFlag.persistentSequential ||
    flags === CreateFlag.ephemeralSequential ||
    flags === CreateFlag.persistentSequentialWithTtl
  );
}

export function isEphemeralFlag(flags: CreateFlag): boolean {
  return flags === CreateFlag.ephemeral || flags === CreateFlag.ephemeralSequential;
}

export function isTtlFlag(flags: CreateFlag): boolean {
  return flags === CreateFlag.persistentWithTtl || flags === CreateFlag.persistentSequentialWithTtl;
}

/** The longest time to live of a TTL znode, in milliseconds. */
export const TTL_MAX_MS = 2 ** 40 - 1;

/** The highest number of a sequential znode in ZooKeeper, which then refuses the next one. */
export const SEQUENCE_MAX = 2 ** 31 - 2;

/** Bits of an ACL entry's `perms`. */
export const Perms = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const;

export const EventType = {
  none: -1,
  created: 1,
  deleted: 2,
  dataChanged: 3,
  childrenChanged: 4,
  dataWatchRemoved: 5,
  childWatchRemoved: 6,
  persistentWatchRemoved: 7,
} as const;
export type EventType = (typeof EventType)[keyof typeof EventType];

export const KeeperState = {
  disconnected: 0,
  noSync: 1,
  syncConnected: 3,
  authFailed: 4,
  connectedReadOnly: 5,
  saslAuthenticated: 6,
  closed: 7,
  expired: -112,
} as const;
export type KeeperState = (typeof KeeperState)[keyof typeof KeeperState];

export const WatcherType = {
  children: 1,
  data: 2,
  any: 3,
  persistent: 4,
  persistentRecursive: 5,
} as const;
export type WatcherType = (typeof WatcherType)[keyof typeof WatcherType];

export const AddWatchMode = { persistent: 0, persistentRecursive: 1 } as const;
export type AddWatchMode = (typeof AddWatchMode)[keyof typeof AddWatchMode];

export const WATCH_XID = -1;
export const PING_XID = -2;
export const AUTH_XID = -4;
export const SET_WATCHES_XID = -8;

/** A session's password has exactly this length; C clients read a reply of fixed size. */
export const PASSWORD_BYTES = 16;

const LETTERS = [
  ['c', Perms.create],
  ['d', Perms.delete],
  ['r', Perms.read],
  ['w', Perms.write],
  ['a', Perms.admin],
] as const;

/**
 * The permissions of an ACL as letters: `cdrwa`, as ZooKeeper's zkCli writes them. Pure.
 *
 * The letters of the permissions, in the order `cdrwa`.
 */
export function permsText(perms: number): string {
  return LETTERS.map(([letter, bit]) => ((perms & bit) === 0 ? '' : letter)).join('');
}

/** The permissions of the letters, in any order; other characters are ignored. */
export function permsOf(letters: string): number {
  return LETTERS.reduce((all, [letter, bit]) => (letters.includes(letter) ? all | bit : all), 0);
}
