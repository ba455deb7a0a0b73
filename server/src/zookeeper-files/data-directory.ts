/**
 * Reads the state of a stopped ZooKeeper from its directories: the newest whole snapshot and the
 * logs behind it, replayed, and each digest on the way compared.
 *
 * Nothing is written. Snapshots that are damaged are passed over for an older one, as ZooKeeper
 * does; damage within a log is an error, unless the caller asks to stop there. Throws
 * ZooKeeperDataError with the file and the place, or the system's error for what cannot be read.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileBoundError, FileError } from './byte-cursor.js';
import { readLogFile } from './log-file.js';
import { decodeLogRecord, type LogRecord } from './log-record.js';
import { readSnapshotFile } from './snapshot-file.js';
import type { SnapshotDigest } from './snapshot-reader.js';
import { type CounterEnd, ZnodeTable } from './znode-table.js';

export class ZooKeeperDataError extends Error {
  override readonly name = 'ZooKeeperDataError';
}

export interface DirectoryToRead {
  readonly dataDir: string;
  /** Where the logs are; the same as `dataDir` unless `dataLogDir` was set. */
  readonly logDir: string;
  /** Ends before the first transaction that is damaged or missing instead of failing there. */
  readonly stopAtDamage: boolean;
}

export interface ReadDirectory {
  readonly znodes: ZnodeTable;
  readonly lastZxid: bigint;
  /** ms since 1970, of the last transaction that was replayed; 0 for none. */
  readonly lastTime: bigint;
  readonly sessions: number;
  readonly snapshot: string;
  /** Newer snapshots that were passed over, and why. */
  readonly passedOver: readonly string[];
  readonly logs: readonly string[];
  readonly transactions: number;
  /** Digests that were compared and agreed, and the zxid of the first one that did not. */
  readonly digests: { readonly equal: number; readonly differsAt: bigint | null };
  /** Where a counter of creates ended, from which on digests may differ without damage. */
  readonly counterEnd: CounterEnd | null;
  /** Where the reading stopped, when damage or a gap was met and `stopAtDamage` was asked for. */
  readonly damage: string | null;
}

const VERSION_DIRECTORY = 'version-2';
const EPOCH_SHIFT = 32n;

export async function readZooKeeperDirectory(setup: DirectoryToRead): Promise<ReadDirectory> {
  const snapshots = await filesOf(setup.dataDir, /^snapshot\.([\da-f]{1,16})(\.gz|\.snappy)?$/);
  const start = await newestSnapshot(setup.dataDir, snapshots.reverse());
  const logs = neededLogs(await filesOf(setup.logDir, /^log\.([\da-f]{1,16})$/), start.zxid);
  const replay = new Replay(start);
  let damage: string | null = null;
  for (const { path } of logs) {
    try {
      await replay.file(path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      damage = `${path}: ${error.message}, after zxid ${hex(replay.lastZxid)}`;
      if (!setup.stopAtDamage) throw new ZooKeeperDataError(damage, { cause: error });
      break;
    }
  }
  const { znodes, lastZxid, lastTime, transactions, digests } = replay;
  const { sessions, path: snapshot, passedOver } = start;
  const { counterEnd } = znodes;
  const facts = { transactions, digests, counterEnd, damage, logs: logs.map(({ path }) => path) };
  return { znodes, lastZxid, lastTime, sessions, snapshot, passedOver, ...facts };
}

interface NamedFile {
  readonly path: string;
  readonly zxid: bigint;
}

interface Start extends NamedFile {
  readonly znodes: ZnodeTable;
  readonly sessions: number;
  readonly digest: SnapshotDigest | null;
  readonly isUnchanged: boolean;
  readonly passedOver: readonly string[];
}

/** In ascending order of their zxids. */
async function filesOf(directory: string, name: RegExp): Promise<NamedFile[]> {
  const folder = join(directory, VERSION_DIRECTORY);
  const files: NamedFile[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [, digits] = name.exec(entry.name) ?? [];
    // A link may lead to a disk of its own; a directory is no file that ZooKeeper has made.
    if (digits === undefined || entry.isDirectory()) continue;
    files.push({ path: join(folder, entry.name), zxid: BigInt(`0x${digits}`) });
  }
  return files.sort((a, b) => (a.zxid < b.zxid ? -1 : 1));
}

async function newestSnapshot(dataDir: string, newestFirst: readonly NamedFile[]): Promise<Start> {
  const passedOver: string[] = [];
  for (const file of newestFirst) {
    const znodes = new ZnodeTable();
    try {
      const facts = await readSnapshotFile(file.path, (node) => znodes.add(node));
      const { digest, isUnchanged } = facts;
      return { ...file, znodes, digest, isUnchanged, passedOver, sessions: facts.sessions.size };
    } catch (error) {
      if (error instanceof FileBoundError) {
        throw new FileBoundError(`${file.path}: ${error.message}`);
      }
      if (!(error instanceof FileError)) throw error;
      passedOver.push(`${file.path}: ${error.message}`);
    }
  }
  const reasons = passedOver.length === 0 ? '' : ` (${passedOver.join('; ')})`;
  throw new ZooKeeperDataError(
    `${join(dataDir, VERSION_DIRECTORY)} holds no snapshot that is whole${reasons}`,
  );
}

/** The last log that begins at or before the snapshot, and all later ones. */
function neededLogs(logs: readonly NamedFile[], snapshotZxid: bigint): readonly NamedFile[] {
  const first = logs.findLastIndex(({ zxid }) => zxid <= snapshotZxid);
  return logs.slice(Math.max(0, first));
}

class Replay {
  readonly znodes: ZnodeTable;
  lastZxid: bigint;
  lastTime = 0n;
  transactions = 0;
  readonly digests = { equal: 0, differsAt: null as bigint | null };
  /** The digest of the snapshot, which is that of the state at a zxid that may come later. */
  readonly #expected: SnapshotDigest | null;
  readonly #isUnchanged: boolean;

  constructor({ znodes, zxid, digest, isUnchanged }: Start) {
    this.znodes = znodes;
    this.lastZxid = zxid;
    this.#expected = digest;
    this.#isUnchanged = isUnchanged;
    if (digest !== null && digest.zxid <= zxid) this.#compare(digest.kept, zxid);
  }

  async file(path: string): Promise<void> {
    for await (const { bytes, offset } of readLogFile(path)) {
      const record = decoded(bytes, offset);
      if (record.zxid <= this.lastZxid) continue;
      requireNext(record.zxid, this.lastZxid, offset);
      this.znodes.apply(record);
      this.lastZxid = record.zxid;
      if (record.time > this.lastTime) this.lastTime = record.time;
      this.transactions += 1;
      this.#check(record);
    }
  }

  /** Before the zxid of the snapshot's digest the tree is of no single moment. */
  #check({ zxid, digest }: LogRecord): void {
    const expected = this.#expected;
    if (expected === null ? !this.#isUnchanged : zxid < expected.zxid) return;
    if (zxid === expected?.zxid) this.#compare(expected.kept, zxid);
    else if (digest !== null) this.#compare(digest, zxid);
  }

  #compare(digest: bigint, zxid: bigint): void {
    if (this.znodes.digest === digest) this.digests.equal += 1;
    else this.digests.differsAt ??= zxid;
  }
}

/**
 * ZooKeeper logs a transaction for every zxid of an epoch, of failed requests, too. What is missing
 * at the end of an epoch does not show, because nothing says where the epoch ended.
 */
function requireNext(zxid: bigint, last: bigint, offset: number): void {
  if (zxid === last + 1n || zxid >> EPOCH_SHIFT !== last >> EPOCH_SHIFT) return;
  const missing = `${hex(last + 1n)} to ${hex(zxid - 1n)}`;
  throw new FileError(`the transactions ${missing} before it are missing`, offset);
}

/** A record's own offsets mean nothing to a reader of the file. */
function decoded(bytes: Buffer, offset: number): LogRecord {
  try {
    return decodeLogRecord(bytes);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new FileError(`a transaction cannot be read: ${error.message}`, offset);
  }
}

function hex(zxid: bigint): string {
  return `0x${zxid.toString(16)}`;
}
