/**
 * Reads the disk of a stopped member: its state, or facts about its checkpoint and log.
 *
 * The end of the log may hold writes that no client was told of; a majority of members that starts
 * again could decide either way about them. The directory is locked meanwhile and is left as a
 * start leaves it. Rejects with OperatorError for a directory that is damaged, missing or in use.
 */
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import type { Zxid } from '@rookery/protocol';
import { type Config, memberDirectories } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import { IGNORE_CHANGES, type LoadedAt, ReplicatedState } from '../state/replicated-state.js';
import { txnOf } from '../state/txn-codec.js';
import {
  openStores,
  type StateLoader,
  Storage,
  StoreLockedError,
  type Stores,
} from '../storage/index.js';

export interface StoppedMember {
  readonly state: ReplicatedState;
  readonly ensembleId: string;
  /** The zxid of the checkpoint: everything up to it was committed. */
  readonly checkpointZxid: Zxid;
}

export async function readStoppedMember(config: Config, id: number): Promise<StoppedMember> {
  return await readStores(await stoppedStores(config, id), id);
}

/** The same where the stores are open already; it closes them. */
export async function readStores(stores: Stores, id: number): Promise<StoppedMember> {
  const state = new ReplicatedState();
  const { storage, recovered } = await Storage.open({
    ...stores,
    memberId: id,
    randomBytes,
    loader: state,
  });
  try {
    const { damaged, ensembleId, checkpointZxid } = recovered;
    if (damaged !== null)
      throw new OperatorError(`the data of member ${id} is damaged: ${damaged}`);
    for (const batch of recovered.suffix) {
      for (const proposal of batch) state.apply(proposal.zxid, txnOf(proposal), IGNORE_CHANGES);
    }
    return { state, ensembleId, checkpointZxid };
  } finally {
    await storage.close();
  }
}

/**
 * Opens what a member that does not run has on its disk, and keeps others out meanwhile.
 *
 * Rejects with OperatorError where there is no data, or where the member runs.
 */
export async function stoppedStores(config: Config, id: number): Promise<Stores> {
  const { data } = memberDirectories(config, id);
  await access(data).catch((cause: unknown) => {
    throw new OperatorError(`${data} does not exist: member ${id} has no data here`, { cause });
  });
  try {
    return await openStores({ ...config, memberId: id });
  } catch (cause) {
    if (!(cause instanceof StoreLockedError)) throw cause;
    throw new OperatorError(
      `member ${id} runs, or another command reads it: ${cause.message}. Stop it first; ` +
        '`rookery backup save --url` saves a member that runs',
      { cause },
    );
  }
}

export interface CheckpointFacts {
  readonly ensembleId: string;
  readonly founded: boolean;
  readonly acceptedEpoch: number;
  readonly currentEpoch: number;
  /** Why nothing of it can be used; null for a sound directory. All below is 0 then. */
  readonly damaged: string | null;
  readonly zxid: Zxid;
  readonly digest: string;
  /** The time of its last transaction, ms since 1970. */
  readonly timeMs: number;
  readonly level: number;
  /** The number of records in the database besides that of the checkpoint itself. */
  readonly records: number;
  readonly recordBytes: number;
  readonly sessions: number;
  /** The state at the checkpoint, which must not be changed. */
  readonly state: ReplicatedState;
  /** The log is there from after the first zxid to the second one. */
  readonly logBase: Zxid;
  readonly logLast: Zxid;
  /** The transactions after the checkpoint, which are not known to be committed. */
  readonly logBehind: number;
}

/**
 * What is on the disk of a member that does not run: who it is, its checkpoint, and its log.
 *
 * The directory is locked meanwhile and is left as a start leaves it. A damaged one is told as such
 * and changed in nothing else. Rejects with OperatorError where there is no data, and for a
 * directory that is in use.
 */
export async function readCheckpointFacts(config: Config, id: number): Promise<CheckpointFacts> {
  const stores = await stoppedStores(config, id);
  const loader = new CountingLoader();
  const opened = await Storage.open({ ...stores, memberId: id, randomBytes, loader });
  const { storage, recovered } = opened;
  try {
    const { ensembleId, founded, acceptedEpoch, currentEpoch, damaged } = recovered;
    const isSound = damaged === null;
    const { state } = loader;
    return {
      ensembleId,
      founded,
      acceptedEpoch,
      currentEpoch,
      damaged,
      state,
      zxid: recovered.checkpointZxid,
      digest: state.digest(),
      timeMs: state.lastTime,
      level: state.level,
      records: loader.records,
      recordBytes: loader.bytes,
      sessions: state.sessions.count,
      logBase: isSound ? storage.base : 0,
      logLast: isSound ? storage.last : 0,
      logBehind: recovered.suffix.reduce((count, batch) => count + [...batch].length, 0),
    };
  } finally {
    await storage.close();
  }
}

class CountingLoader implements StateLoader {
  readonly state = new ReplicatedState();
  records = 0;
  bytes = 0;

  load(key: Uint8Array, value: Uint8Array): void {
    this.records += 1;
    this.bytes += key.length + value.length;
    this.state.load(key, value);
  }

  finishLoad(at: LoadedAt): void {
    this.state.finishLoad(at);
  }

  digest(): string {
    return this.state.digest();
  }
}
