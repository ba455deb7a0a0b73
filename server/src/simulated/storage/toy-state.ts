/** Helpers of the storage tests: a state of plain entries, and proposals. */
import { randomBytes } from 'node:crypto';
import { makeZxid, type Proposal, ProposalBatch, type Zxid } from '@rookery/protocol';
import { LEVEL_MAX } from '../../state/level.js';
import type { CheckpointSource, FrozenState } from '../../storage/checkpointer.js';
import type { Recovered, StateLoader, StorageOptions, Stores } from '../../storage/contract.js';
import { Storage } from '../../storage/storage.js';

export const TINY: StorageOptions = {
  segmentBytesMax: 300,
  firstPart: 1,
  retainedBytesMin: 200,
  recordBytesMax: 120,
  chunkBytesMax: 100,
  levelMax: LEVEL_MAX,
};

/** Each proposal's body is `key=value`; applying it sets the entry. */
export class ToyState implements StateLoader, CheckpointSource {
  readonly entries = new Map<string, string>();
  lastZxid: Zxid = 0;
  #dirty = new Set<string>();
  #captured: { readonly key: Uint8Array; readonly value: Uint8Array | null }[] = [];

  apply(proposal: Proposal): void {
    const [key, value] = new TextDecoder().decode(proposal.body).split('=');
    this.entries.set(`n/${key}`, `${value}`);
    this.#dirty.add(`n/${key}`);
    this.lastZxid = proposal.zxid;
  }

  load(key: Uint8Array, value: Uint8Array): void {
    this.entries.set(new TextDecoder().decode(key), new TextDecoder().decode(value));
  }

  finishLoad(at: { readonly zxid: Zxid }): void {
    this.lastZxid = at.zxid;
  }

  digest(): string {
    return [...this.entries]
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(',');
  }

  get dirtyCount(): number {
    return this.#dirty.size;
  }

  get dirtyBytes(): number {
    return this.#dirty.size * 10;
  }

  get captureDone(): boolean {
    return this.#captured.length === 0;
  }

  freeze(): FrozenState {
    const encoder = new TextEncoder();
    this.#captured = [...this.#dirty].map((key) => ({
      key: encoder.encode(key),
      value: encoder.encode(this.entries.get(key) ?? ''),
    }));
    this.#dirty = new Set();
    return { zxid: this.lastZxid, digest: this.digest(), lastTime: this.lastZxid };
  }

  captureSome(max: number, _bytesMax: number) {
    return this.#captured.splice(0, max);
  }
}

export interface Opened {
  readonly storage: Storage;
  readonly recovered: Recovered;
  readonly state: ToyState;
}

export async function openToy(
  stores: Stores,
  options: Partial<StorageOptions> = TINY,
): Promise<Opened> {
  const state = new ToyState();
  const setup = {
    ...stores,
    memberId: 1,
    loader: state,
    options,
    randomBytes,
  };
  return { ...(await Storage.open(setup)), state };
}

/** All of them, in order. */
export function proposalsIn(batches: readonly ProposalBatch[]): readonly Proposal[] {
  return batches.flatMap((batch) => [...batch]);
}

/** `count` proposals of one epoch after `previous`; the first of a new epoch has counter 1. */
export function proposalsAfter(
  previous: Zxid,
  at: { readonly epoch: number; readonly counter: number; readonly count: number },
): ProposalBatch {
  const proposals: Proposal[] = [];
  let last = previous;
  for (let i = 0; i < at.count; i++) {
    const zxid = makeZxid(at.epoch, at.counter + i);
    const body = Buffer.from(`k${zxid % 7}=v${zxid}`);
    proposals.push({ zxid, previous: last, body });
    last = zxid;
  }
  return ProposalBatch.of(proposals);
}
