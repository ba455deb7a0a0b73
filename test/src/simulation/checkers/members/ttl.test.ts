/**
 * Ttl accepts znodes that are removed in time, and rejects those that are removed early or stay.
 */
import { ProposalBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { ReplicatedState } from '../../../simulated.js';
import { append, TICK, Told, zxid } from './testing/observations.js';
import { newTtl } from './ttl.js';

const node = { kind: 'create', path: '/t', data: null, acl: [] } as const;
const create = { ...node, mode: 'ttl', ttlMs: 1_000, opcode: 21 } as const;
const set = { kind: 'setData', path: '/t', data: null, version: 1 } as const;
const gone = { kind: 'delete', path: '/t' } as const;
const LEADS = { kind: 'role', role: 'leading', leader: 1, epoch: 1 } as const;

const made = (): Told => new Told(newTtl).applied(1, zxid(1, 1), { session: 9, op: create });
const reaped = (told: Told): Told => told.applied(1, zxid(1, 9), { session: 0, op: gone });

describe('the checker of TTLs', () => {
  it('accepts a znode that is removed in time, and one that a client deletes', () => {
    reaped(made().wait(1_000));
    made().applied(1, zxid(1, 2), { session: 9, op: gone });
  });

  it('rejects a znode that is removed early, counted from the last write', () => {
    expect(() => reaped(made().wait(500))).toThrow(/a TTL znode is removed .* of a TTL of 1000/);
    const written = made().wait(900).applied(1, zxid(1, 2), { session: 9, op: set });
    expect(() => reaped(written.wait(700))).toThrow(/a TTL znode is removed/);
  });

  it('does not judge an early removal if most clocks were wrong while a member was started', () => {
    const HOUR_MS = 3_600_000;
    reaped(made().wait(100).clockSet(1, HOUR_MS).clockSet(2, HOUR_MS).started(1));
    reaped(made().clockSet(1, HOUR_MS).clockSet(2, HOUR_MS).clockSet(1, 0).wait(100).started(1));
    const early = /a TTL znode is removed/;
    const one = made().wait(100).clockSet(1, HOUR_MS).started(1);
    expect(() => reaped(one)).toThrow(early);
    const running = made().wait(100).clockSet(1, HOUR_MS).clockSet(2, HOUR_MS);
    expect(() => reaped(running)).toThrow(early);
    const before = new Told(newTtl).clockSet(1, HOUR_MS).clockSet(2, HOUR_MS).clockSet(1, 0);
    const created = before.wait(100).applied(1, zxid(1, 1), { session: 9, op: create });
    expect(() => reaped(created.wait(100).started(1))).toThrow(early);
  });

  it('counts from the proposal, even if it is first applied much later', () => {
    const body = new Uint8Array();
    const batch = ProposalBatch.of([{ zxid: zxid(1, 1), previous: 0, body }]);
    const proposed = new Told(newTtl).step(1, TICK, append(1, batch));
    const applied = proposed.wait(900).applied(1, zxid(1, 1), { session: 9, op: create });
    reaped(applied.wait(100));
  });

  it('rejects a znode that stays for long under one leader', () => {
    const error = { kind: 'error', code: -1, codes: null } as const;
    const goesOn = (told: Told, state?: ReplicatedState): Told =>
      told.wait(137_000).applied(1, zxid(1, 9), { session: 9, op: error }, state);
    goesOn(made());
    expect(() => goesOn(made().step(1, TICK, LEADS))).toThrow(/still has \/t/);
  });
});
