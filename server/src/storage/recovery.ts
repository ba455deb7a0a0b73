/**
 * Determines at start whether a member's disk holds nothing, a sound state, or damage.
 *
 * Reads before it writes; founds an empty member only where there is nothing at all, or what is
 * left of a founding that never ended. A member marks its tree's directory as complete when its
 * first start has made everything durable, and only then sends anything. So without that mark it
 * has promised nothing yet, and whatever a loss of power has made of its files counts as an empty
 * directory, unless they show the opposite: a record in the log, a checkpoint, or a meta record
 * that says more than a founding writes. A directory whose mark does not say whether the founding
 * ended, as an operator may write it, is empty only without a meta record. Destroys generations
 * that are not live (a snapshot that was not finished, the tree that an installed one replaced),
 * but never while the disk is damaged and its meta unreadable.
 */
import { epochOf, formatZxid } from '@rookery/protocol';
import { LEVEL } from '../state/level.js';
import { CheckpointedTree, parseTreeName, readCheckpoint } from './checkpoint.js';
import type { FullSetup, Recovered, Stores } from './contract.js';
import { DamagedError, IdentityError, refuseHigherLevel } from './errors.js';
import type { KeyValueStore, LogDirectory } from './key-value.js';
import { recoverLog } from './log-recovery.js';
import { parseSegmentName, RECORDS_START, RecordReader, readHeader } from './log-segment.js';
import { META_NAME, type Meta, MetaStore } from './meta.js';
import { TxnLog } from './txn-log.js';

const NO_HISTORY = { checkpointZxid: 0, history: { base: 0, ranges: [] }, suffix: [], last: 0 };

/** The generation that is in use. */
export interface Live {
  readonly tree: CheckpointedTree;
  readonly log: TxnLog;
}

export interface RecoveredStorage {
  readonly metaStore: MetaStore;
  readonly meta: Meta;
  /** False when the meta record on disk is missing or damaged: `meta` was made up. */
  readonly metaKnown: boolean;
  readonly live: Live | null;
  readonly recovered: Recovered;
}

export async function recoverStorage(setup: FullSetup): Promise<RecoveredStorage> {
  const { memberId } = setup;
  if (await isUnfinished(setup)) return await foundStorage(setup);
  const names = await generationsOf(setup);
  const metaStore = await openMeta(setup, names);
  let meta: Meta | null;
  try {
    meta = await metaStore.read();
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    return damagedStorage(metaStore, unknownMeta(memberId, names, error.message), false);
  }
  if (meta === null) {
    const message = 'the meta record is missing, but a member was founded here';
    return damagedStorage(metaStore, unknownMeta(memberId, names, message), false);
  }
  if (meta.memberId !== memberId) {
    throw new IdentityError(
      `this is the data of member ${meta.memberId}, this is member ${memberId}`,
    );
  }
  refuseHigherLevel(meta.level, setup.options.levelMax);
  await destroyGenerations(setup, meta.generation);
  if (meta.damaged !== null) return damagedStorage(metaStore, meta, true);
  try {
    return await soundStorage(setup, metaStore, meta);
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    return damagedStorage(metaStore, { ...meta, damaged: error.message }, true);
  }
}

/** A meta database that LevelDB cannot open is replaced by one that says so. */
async function openMeta(setup: FullSetup, generations: readonly number[]): Promise<MetaStore> {
  try {
    return await MetaStore.open(setup.treeStore);
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    return await replaceMeta(setup, generations, error.message);
  }
}

/** A new meta database, which says what was wrong with the one before. */
export async function replaceMeta(
  { treeStore, memberId }: FullSetup,
  generations: readonly number[],
  damage: string,
): Promise<MetaStore> {
  await treeStore.destroy(META_NAME);
  const metaStore = await MetaStore.open(treeStore);
  await metaStore.write(unknownMeta(memberId, generations, damage));
  return metaStore;
}

/** Destroys every tree and log but those of the generation `live`; all of them when it is null. */
export async function destroyGenerations(
  { treeStore, logFiles }: Stores,
  live: number | null,
): Promise<void> {
  for (const name of await treeStore.list()) {
    const generation = parseTreeName(name);
    if (generation !== null && generation !== live) await treeStore.destroy(name);
  }
  for (const name of await logFiles.list()) {
    const parsed = parseSegmentName(name);
    if (parsed !== null && parsed.generation !== live) await logFiles.remove(name);
  }
}

/** The numbers of all generations with a tree or a log. */
export async function generationsOf({ treeStore, logFiles }: Stores): Promise<readonly number[]> {
  const generations: number[] = [];
  for (const name of await treeStore.list()) generations.push(parseTreeName(name) ?? -1);
  for (const name of await logFiles.list()) {
    generations.push(parseSegmentName(name)?.generation ?? -1);
  }
  return generations.filter((generation) => generation >= 0);
}

async function soundStorage(
  setup: FullSetup,
  metaStore: MetaStore,
  found: Meta,
): Promise<RecoveredStorage> {
  const { generation } = found;
  if (!(await setup.treeStore.list()).includes(`tree-${generation}`)) {
    throw new DamagedError(`the tree is missing (tree-${generation})`);
  }
  const tree = await CheckpointedTree.open(setup.treeStore, generation);
  try {
    const checkpoint = tree.checkpoint.zxid;
    refuseHigherLevel(tree.checkpoint.level, setup.options.levelMax);
    let meta = found;
    const logAt = { generation, checkpoint, logSeq: meta.logSeq };
    // Both at once, because the log mostly waits for the disk and the tree for the processor.
    const [loaded, read] = await Promise.allSettled([
      tree.load(setup.loader),
      recoverLog(setup, logAt),
    ]);
    if (loaded.status === 'rejected') {
      if (read.status === 'fulfilled') await read.value.log.closeFiles();
      throw loaded.reason;
    }
    if (read.status === 'rejected') throw read.reason;
    const { log, logSeq, history, suffix, unreadable } = read.value;
    if (epochOf(log.last) > meta.acceptedEpoch) {
      await log.closeFiles();
      throw new DamagedError(
        `the log ends with ${formatZxid(log.last)}, but the epoch accepted is ${meta.acceptedEpoch}`,
      );
    }
    if (log.last < meta.recordedZxid) {
      await log.closeFiles();
      throw new DamagedError(
        `the log ends with ${formatZxid(log.last)}, but was durable up to ` +
          `${formatZxid(meta.recordedZxid)}: its newest part is damaged or missing`,
      );
    }
    if (logSeq !== meta.logSeq) {
      // The last process ended right before it recorded this.
      meta = { ...meta, logSeq };
      await metaStore.write(meta);
    }
    const recovered = {
      ...identityOf(meta),
      checkpointZxid: checkpoint,
      history,
      suffix,
      last: log.last,
      damaged: null,
      ...(unreadable === undefined ? {} : { unreadableLog: unreadable }),
    };
    return { metaStore, meta, metaKnown: true, live: { tree, log }, recovered };
  } catch (error) {
    await tree.database.unpin();
    throw error;
  }
}

/**
 * Founds an empty member, in place of what an unfinished founding has left. Storage marks the
 * directory as complete behind it.
 */
async function foundStorage(setup: FullSetup): Promise<RecoveredStorage> {
  const { treeStore, memberId, loader } = setup;
  const removed = await clear(setup);
  const metaStore = await MetaStore.open(treeStore);
  const log = await TxnLog.create(setup, { generation: 0, base: 0 });
  loader.finishLoad({ zxid: 0, lastTime: 0 });
  const checkpoint = { zxid: 0, digest: loader.digest(), lastTime: 0 };
  const tree = await CheckpointedTree.create(treeStore, 0, checkpoint);
  const meta = { ...emptyMeta(memberId), generation: 0, logSeq: 0, damaged: null };
  await metaStore.write(meta);
  const recovered = {
    ...identityOf(meta),
    ...NO_HISTORY,
    damaged: null,
    ...(removed.length === 0 ? {} : { unfinished: removed }),
  };
  return { metaStore, meta, metaKnown: true, live: { tree, log }, recovered };
}

/** Destroys meta and all trees and logs; returns their names. */
async function clear(stores: Stores): Promise<readonly string[]> {
  const { treeStore, logFiles } = stores;
  const databases = (await treeStore.list()).filter(
    (name) => name === META_NAME || parseTreeName(name) !== null,
  );
  const segments = (await logFiles.list()).filter((name) => parseSegmentName(name) !== null);
  if (databases.includes(META_NAME)) await treeStore.destroy(META_NAME);
  await destroyGenerations(stores, null);
  return [...databases, ...segments];
}

function damagedStorage(metaStore: MetaStore, meta: Meta, metaKnown: boolean): RecoveredStorage {
  const recovered = {
    ...identityOf(meta),
    ...NO_HISTORY,
    damaged: meta.damaged,
  };
  return { metaStore, meta, metaKnown, live: null, recovered };
}

function unknownMeta(memberId: number, generations: readonly number[], damaged: string): Meta {
  const generation = Math.max(0, ...generations);
  return { ...emptyMeta(memberId), generation, logSeq: 0, damaged };
}

function emptyMeta(memberId: number) {
  return {
    memberId,
    ensembleId: '',
    founded: false,
    acceptedEpoch: 0,
    currentEpoch: 0,
    level: LEVEL.first,
    recordedZxid: 0,
    lineage: [] as Meta['lineage'],
    start: { incarnation: '', count: 0, instances: [] } as Meta['start'],
    seenStarts: [] as Meta['seenStarts'],
  } as const;
}

function identityOf(meta: Meta) {
  const { ensembleId, founded, acceptedEpoch, currentEpoch, lineage, servedWith = null } = meta;
  return { ensembleId, founded, acceptedEpoch, currentEpoch, lineage, servedWith };
}

/** Whether there is nothing, or only what an unfinished founding has left. Changes nothing. */
async function isUnfinished(setup: FullSetup): Promise<boolean> {
  const founding = await setup.treeStore.founding();
  if (founding === 'complete') return false;
  const isMarkedLast = founding === 'incomplete';
  if (await holdsAnything(setup, isMarkedLast)) return false;
  const meta = await metaIn(setup.treeStore);
  if (meta === null) return true;
  if (meta instanceof DamagedError) return isMarkedLast;
  return isMarkedLast && isFirst(meta, setup.memberId);
}

async function metaIn(store: KeyValueStore): Promise<Meta | DamagedError | null> {
  if (!(await store.list()).includes(META_NAME)) return null;
  try {
    const metaStore = await MetaStore.open(store);
    try {
      return await metaStore.read();
    } finally {
      await metaStore.close();
    }
  } catch (error) {
    if (error instanceof DamagedError) return error;
    throw error;
  }
}

/** Whether the record is one that a founding writes, before the member promises anything. */
function isFirst(meta: Meta, memberId: number): boolean {
  return (
    meta.memberId === memberId &&
    meta.acceptedEpoch === 0 &&
    meta.ensembleId === '' &&
    meta.damaged === null &&
    meta.servedWith === undefined
  );
}

/**
 * Whether there is a proposal or a tree that is not empty. An empty tree that cannot be read counts
 * as one that is not, unless `mayBeTorn`.
 */
async function holdsAnything(
  { treeStore, logFiles }: Stores,
  mayBeTorn: boolean,
): Promise<boolean> {
  const trees = (await treeStore.list()).filter((name) => parseTreeName(name) !== null);
  for (const name of trees) {
    if (parseTreeName(name) !== 0) return true;
    if (await holdsCheckpoint(treeStore, name, mayBeTorn)) return true;
  }
  for (const name of await logFiles.list()) {
    const segment = parseSegmentName(name);
    if (segment === null) continue;
    if (segment.generation !== 0 || segment.seq !== 0) return true;
    // The tree is made after the log's header is durable.
    if (await holdsProposals(logFiles, { name, hasTree: trees.length > 0 })) return true;
  }
  return false;
}

/** Whether the log has a proposal. An unreadable log counts as having one. */
async function holdsProposals(
  logFiles: LogDirectory,
  { name, hasTree }: { readonly name: string; readonly hasTree: boolean },
): Promise<boolean> {
  const file = await logFiles.open(name);
  try {
    const header = await readHeader(file, name);
    if (header === null) return hasTree;
    const reader = new RecordReader(file, { salt: header.salt, from: RECORDS_START });
    const isEmpty = (await reader.next()) === null && !(await reader.hasLaterWrite());
    return header.base !== 0 || !isEmpty;
  } catch (error) {
    if (error instanceof DamagedError) return true;
    throw error;
  } finally {
    await file.close();
  }
}

/** Whether the tree is not the empty one. */
async function holdsCheckpoint(
  store: KeyValueStore,
  name: string,
  mayBeTorn: boolean,
): Promise<boolean> {
  try {
    const open = await store.open(name);
    try {
      return ((await readCheckpoint(name, open))?.zxid ?? 0) !== 0;
    } finally {
      await open.close();
    }
  } catch (error) {
    if (error instanceof DamagedError) return !mayBeTorn;
    throw error;
  }
}
