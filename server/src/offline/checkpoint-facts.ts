/**
 * What is on the disk of a member that does not run: who it is, its checkpoint, and its log.
 *
 * The directory is locked meanwhile and is left as a start leaves it. A damaged one is told as such
 * and changed in nothing else. Rejects with OperatorError where there is no data, and for a
 * directory that is in use.
 */
import { randomBytes } from 'node:crypto';
import type { Zxid } from '@rookery/protocol';
import type { Config } from '../config/config.js';
import { type LoadedAt, ReplicatedState } from '../state/replicated-state.js';
import { type StateLoader, Storage } from '../storage/index.js';
import { stoppedStores } from './stopped-stores.js';

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
  /** The state at the checkpoint, which nobody may change. */
  readonly state: ReplicatedState;
  /** The log is there from after the first zxid to the second one. */
  readonly logBase: Zxid;
  readonly logLast: Zxid;
  /** The transactions after the checkpoint, which are not known to be committed. */
  readonly logBehind: number;
}

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
