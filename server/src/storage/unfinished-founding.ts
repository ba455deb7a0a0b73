/**
 * Tells what is left of a founding that never ended from the data of a member.
 *
 * A member marks its tree's directory as complete when its first start has made everything durable,
 * and only then sends anything. So without that mark it has promised nothing yet, and whatever a
 * loss of power has made of its files counts as an empty directory, unless they show the opposite:
 * a record in the log, a checkpoint, or a meta record that says more than a founding writes. With
 * the mark nothing counts as empty. A directory whose mark does not say whether the founding ended,
 * as an operator may write it, is empty only without a meta record.
 */
import { parseTreeName, readCheckpoint } from './checkpoint.js';
import type { StorageSetup } from './contract.js';
import { DamagedError } from './errors.js';
import type { KeyValueStore } from './key-value.js';
import type { LogDirectory } from './log-files.js';
import { RecordReader } from './log-record.js';
import { parseSegmentName, RECORDS_START, readHeader } from './log-segment.js';
import { META_NAME, type Meta, MetaStore } from './meta.js';

/** Whether there is nothing, or only what an unfinished founding has left. Changes nothing. */
export async function isUnfinished(setup: StorageSetup): Promise<boolean> {
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
  { treeStore, logFiles }: StorageSetup,
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
