/**
 * Writes a planned state into the empty directories of members, which found a new ensemble with it.
 *
 * Every member of the ensemble gets the same state and the same ensemble id: each of them then
 * counts as one that has served before, so that a majority is enough to begin. A directory that is
 * not empty is refused before anything is written. What was written is read again and compared by
 * its digest before a directory becomes a member's. A failure may leave directories behind that are
 * incomplete. Each counts as damaged before the next one is made, and until it is complete, so a
 * member that is started on it has no vote, says why, and founds no empty ensemble.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { epochOf, errorMessage } from '@rookery/protocol';
import { type Config, memberDirectories } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import { ReplicatedState } from '../state/replicated-state.js';
import { changeWithChecksum, checkpointRecord } from '../storage/checkpoint.js';
import {
  openStores,
  type SnapshotSink,
  Storage,
  StorageFault,
  type Stores,
  type TreeRecord,
} from '../storage/index.js';
import { trailerRecord } from '../storage/snapshot-source.js';
import type { RestorePlan } from './restore-plan.js';

interface RestoreTarget {
  readonly config: Config;
  /** The members whose directories are on this machine. */
  readonly ids: readonly number[];
}

interface Restored {
  readonly ids: readonly number[];
  /** The same for all members of the ensemble, wherever they are restored. */
  readonly ensembleId: string;
  /** It can be used once. */
  readonly plan: RestorePlan;
}

export interface MembersToRestore extends RestoreTarget, Restored {}

interface StoresToRestore extends Restored {
  /** Opens the stores of a member, which are empty. */
  storesOf(id: number): Promise<Stores>;
}

/** What `server.damaged` says of a directory into which a restore was interrupted. */
const INCOMPLETE =
  'a restore or an import has not ended: remove the directories of all members, and begin again';

/** Resolves with the digest of the state when everything is durable. Rejects with OperatorError. */
export async function restoreMembers(setup: MembersToRestore): Promise<string> {
  const { config, ids } = setup;
  await requireRestorable(setup);
  try {
    const storesOf = (memberId: number) => openStores({ ...config, memberId });
    return await restoreStores({ ...setup, storesOf });
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error;
    throw new OperatorError(
      `the restore failed (${error.message}): remove the directories of members ${ids.join(', ')}, ` +
        'which are incomplete, and restore again',
      { cause: error },
    );
  }
}

/** Rejects with OperatorError if the directories are not empty, or cannot be made. */
export async function requireRestorable({ config, ids }: RestoreTarget): Promise<void> {
  for (const id of ids) await requireEmpty(config, id);
}

/** The same on stores that nothing was ever written to. */
export async function restoreStores(setup: StoresToRestore): Promise<string> {
  const { plan } = setup;
  const { state } = plan;
  const storages: Storage[] = [];
  const closeAll = () => Promise.allSettled(storages.map((storage) => storage.close()));
  try {
    const members = await openAll(setup, storages);
    for (const records of snapshotOfState(state)) {
      await Promise.all(members.map(({ sink }) => sink.write(records)));
    }
    for (const { storage, sink } of members) {
      await sink.verify(plan.zxid, new ReplicatedState());
      const epoch = epochOf(plan.zxid);
      const { ensembleId } = setup;
      await storage.saveEpochs({ accepted: epoch, current: epoch, ensembleId, founded: true });
      // Last, because it ends the damage: the directory is complete, or it is none of a member's.
      await storage.installSnapshot(plan.zxid);
    }
  } catch (error) {
    await closeAll();
    throw error;
  }
  for (const closed of await closeAll()) if (closed.status === 'rejected') throw closed.reason;
  return state.digest();
}

async function requireEmpty(config: Config, id: number): Promise<void> {
  const { data, log } = memberDirectories(config, id);
  for (const directory of new Set([data, log])) {
    if ((await namesIn(directory)).length === 0) {
      await requireWritable(directory);
      continue;
    }
    throw new OperatorError(
      `${directory} is not empty: a state is restored into new directories only; ` +
        'move the old one away first',
    );
  }
}

/** The directory, or the one in which it would be made. */
async function requireWritable(directory: string): Promise<void> {
  for (let at = directory; ; at = dirname(at)) {
    try {
      await access(at, constants.W_OK | constants.X_OK);
      return;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : '';
      if (code === 'ENOENT' && dirname(at) !== at) continue;
      const reason = errorMessage(error);
      throw new OperatorError(`${directory} cannot be written: ${reason}`, { cause: error });
    }
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    const reason = errorMessage(error);
    throw new OperatorError(`${directory} cannot be read: ${reason}`, { cause: error });
  }
}

interface OpenMember {
  readonly storage: Storage;
  readonly sink: SnapshotSink;
}

/** Adds what it has opened to `storages`, also when it fails. */
async function openAll(
  { ids, storesOf }: StoresToRestore,
  storages: Storage[],
): Promise<readonly OpenMember[]> {
  const members: OpenMember[] = [];
  for (const memberId of ids) {
    const stores = await storesOf(memberId);
    const loader = new ReplicatedState();
    const { storage } = await Storage.open({ ...stores, memberId, randomBytes, loader });
    storages.push(storage);
    await storage.giveUp(INCOMPLETE);
    members.push({ storage, sink: await storage.beginSnapshot() });
  }
  return members;
}

const BLOCK_BYTES = 128 << 10;
const SLICE_COUNT = 2000;
const SLICE_BYTES = 1 << 20;

/**
 * The records of a state as a leader would send them to a learner: the checkpoint first, then all
 * that a capture hands out, and last a record with the number of all others.
 *
 * The state must have been captured never before, so that all of it is handed out.
 */
function* snapshotOfState(state: ReplicatedState): Generator<readonly TreeRecord[]> {
  const frozen = state.freeze(BLOCK_BYTES);
  yield [checkpointRecord(frozen)];
  let count = 1;
  while (!state.captureDone) {
    const records: TreeRecord[] = [];
    for (const change of state.captureSome(SLICE_COUNT, SLICE_BYTES)) {
      const operation = changeWithChecksum(change);
      if (operation.type === 'put') records.push([operation.key, operation.value]);
    }
    count += records.length;
    yield records;
  }
  yield [trailerRecord(count)];
}
