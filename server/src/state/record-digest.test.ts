/** The digest of records is that of the state that they were captured from, after any history. */
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { RecordDigest } from './record-digest.js';
import { type CheckpointRecord, ReplicatedState } from './replicated-state.js';
import type { TxnOp } from './txn.js';

const SILENT = { created() {}, deleted() {}, dataChanged() {} };
const ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const SESSION = {
  kind: 'createSession',
  timeoutMs: 4000,
  password: new Uint8Array(16),
} as TxnOp;

function apply(state: ReplicatedState, counter: number, op: TxnOp): void {
  const zxid = makeZxid(1, counter);
  state.apply(zxid, { origin: 1, request: 1, session: 0, time: counter, op }, SILENT);
}

function opAt(counter: number): TxnOp {
  const name = counter % 40;
  const path = `/${name % 3 === 0 ? 'n\u00e9' : 'n'}${name}`;
  const round = Math.floor(counter / 40) % 3;
  if (round === 2) return { kind: 'delete', path };
  const data = new Uint8Array(counter % 7 === 0 ? 5000 : counter % 30).fill(counter);
  if (round === 1) return { kind: 'setData', path, data, version: 1 };
  return { kind: 'create', path, data, acl: ACL, mode: 'persistent', ttlMs: 0, opcode: 1 };
}

function digestOf(records: readonly CheckpointRecord[], level: number): string {
  const digest = new RecordDigest();
  for (const { key, value } of records) if (value !== null) digest.load(key, value);
  digest.finishLoad({ level });
  return digest.digest();
}

function captured(state: ReplicatedState): CheckpointRecord[] {
  const records: CheckpointRecord[] = [];
  while (!state.captureDone) records.push(...state.captureSome(10, 1000));
  return records;
}

describe('the digest of records', () => {
  it('of a fresh state without records is that of the state', () => {
    const state = new ReplicatedState();
    expect(digestOf([], state.level)).toBe(state.digest());
  });

  it('is that of the state at each capture of everything, also one given up half way', () => {
    const state = new ReplicatedState();
    for (let counter = 1; counter < 200; counter++) {
      apply(state, counter, counter === 1 ? SESSION : opAt(counter - 2));
      if (counter % 17 === 0) {
        if (state.captureDone) state.freeze(500);
        state.captureSome(5, 1000);
      }
      if (counter % 13 !== 0) continue;
      const frozen = state.freezeAll(500);
      expect(digestOf(captured(state), frozen.level)).toBe(frozen.digest);
    }
  });

  it('is another one, or an error, when any byte of a record is another', () => {
    const state = new ReplicatedState();
    for (let counter = 2; counter < 20; counter++) apply(state, counter, opAt(counter - 2));
    const frozen = state.freezeAll(500);
    const records = captured(state);
    let unnoticed = 0;
    for (const [index, { key, value }] of records.entries()) {
      for (let at = 0; value !== null && at < value.length; at += 5) {
        const spoilt = Uint8Array.from(value);
        spoilt[at] = (spoilt[at] ?? 0) ^ 4;
        try {
          const others = records.with(index, { key, value: spoilt });
          if (digestOf(others, frozen.level) === frozen.digest) unnoticed += 1;
        } catch {
          // It was found even earlier.
        }
      }
    }
    // The number of children of a znode follows from the other records and is in no digest.
    expect(unnoticed).toBeLessThanOrEqual(2 * state.tree.nodeCount);
  });
});
