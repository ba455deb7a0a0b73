/**
 * Reads the state of a member that does not run: its checkpoint, and all that is in its log.
 *
 * The end of the log may hold writes that no client was told of; a majority of members that starts
 * again could decide either way about them. The directory is locked meanwhile and is left as a
 * start leaves it. Rejects with OperatorError for a directory that is damaged, missing or in use.
 */
import { randomBytes } from 'node:crypto';
import type { Zxid } from '@rookery/protocol';
import type { Config } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import { IGNORE_CHANGES } from '../state/change-sink.js';
import { ReplicatedState } from '../state/replicated-state.js';
import { txnOf } from '../state/txn-codec.js';
import { Storage, type StorageSetup } from '../storage/index.js';
import { stoppedStores } from './stopped-stores.js';

export interface StoppedMember {
  readonly state: ReplicatedState;
  readonly ensembleId: string;
  /** The zxid of the checkpoint: everything up to it was committed. */
  readonly checkpointZxid: Zxid;
}

/** What a member keeps on its disk, open. */
export type MemberStores = Pick<StorageSetup, 'treeStore' | 'logFiles'>;

export async function readStoppedMember(config: Config, id: number): Promise<StoppedMember> {
  return await readStores(await stoppedStores(config, id), id);
}

/** The same where the stores are open already; it closes them. */
export async function readStores(stores: MemberStores, id: number): Promise<StoppedMember> {
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
