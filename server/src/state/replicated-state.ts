/**
 * What every replica has at one zxid: the tree and the sessions.
 */
import type { Zxid } from '@rookery/protocol';
import type { ChangeSink } from './change-sink.js';
import { SessionTable } from './session-table.js';
import { Tree } from './tree.js';
import type { Txn } from './txn.js';

/** One record of a checkpoint; a null value deletes. Where a key comes twice, the later counts. */
export interface CheckpointRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

/** What a capture captures: the state at `zxid`. */
export interface FrozenSummary {
  readonly zxid: Zxid;
  readonly digest: string;
  readonly nodeCount: number;
  readonly sessionCount: number;
  /** The time of the last transaction, ms since 1970. */
  readonly lastTime: number;
}

export class ReplicatedState {
  readonly tree = new Tree();
  readonly sessions = new SessionTable();

  get lastZxid(): Zxid {
    throw new Error('skeleton');
  }
  /** The time of the last applied transaction, ms since 1970; 0 for a fresh state. */
  get lastTime(): number {
    throw new Error('skeleton');
  }
  /** 16 hex digits, equal on every replica with the same content. */
  digest(): string {
    throw new Error('skeleton');
  }

  /** Cannot fail, only assert. `zxid` becomes lastZxid. */
  apply(_zxid: Zxid, _txn: Txn, _sink: ChangeSink): void {
    throw new Error('skeleton');
  }
  /** Data of /zookeeper/config: local, in no digest and in no checkpoint. */
  setConfigNode(_text: string): void {
    throw new Error('skeleton');
  }

  /** Changed entries since the last freeze, an upper bound. */
  get dirtyCount(): number {
    throw new Error('skeleton');
  }
  /** About the bytes of their records. */
  get dirtyBytes(): number {
    throw new Error('skeleton');
  }
  /** Starts a capture of the changes since the last one, at lastZxid. None may be under way. */
  freeze(): FrozenSummary {
    throw new Error('skeleton');
  }
  /** The summary of the capture under way or of the last one; null before the first. */
  get frozen(): FrozenSummary | null {
    throw new Error('skeleton');
  }
  /** True when no capture is under way: everything of the last freeze has been handed out. */
  get captureDone(): boolean {
    throw new Error('skeleton');
  }
  /** Up to `max` records of the frozen state; owned by the caller. */
  captureSome(_max: number): readonly CheckpointRecord[] {
    throw new Error('skeleton');
  }

  /** Recovery: one record, into a state that nothing was applied to. Throws MarshallingError. */
  load(_key: Uint8Array, _value: Uint8Array): void {
    throw new Error('skeleton');
  }
  /** Ends recovery; verifies links and counts. */
  finishLoad(_at: { readonly zxid: Zxid; readonly lastTime: number }): void {
    throw new Error('skeleton');
  }
}
