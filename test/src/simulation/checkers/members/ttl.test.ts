/** Goal: Ttl accepts znodes that go in their time, and refuses those that go early or stay. */
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
  it('accepts who goes in its time, and who is deleted by a client', () => {
    reaped(made().wait(1_000));
    made().applied(1, zxid(1, 2), { session: 9, op: gone });
  });

  it('refuses who goes early, counted from the last write', () => {
    expect(() => reaped(made().wait(500))).toThrow(/a TTL znode goes .* of a TTL of 1000/);
    const written = made().wait(900).applied(1, zxid(1, 2), { session: 9, op: set });
    expect(() => reaped(written.wait(700))).toThrow(/a TTL znode goes/);
  });

  it('judges by dates nobody whose clocks were mostly wrong while a member was started', () => {
    const HOUR_MS = 3_600_000;
    reaped(made().wait(100).clockSet(1, HOUR_MS).clockSet(2, HOUR_MS).started(1));
    reaped(made().clockSet(1, HOUR_MS).clockSet(2, HOUR_MS).clockSet(1, 0).wait(100).started(1));
    const early = /a TTL znode goes/;
    const one = made().wait(100).clockSet(1, HOUR_MS).started(1);
    expect(() => reaped(one)).toThrow(early);
    const running = made().wait(100).clockSet(1, HOUR_MS).clockSet(2, HOUR_MS);
    expect(() => reaped(running)).toThrow(early);
    const before = new Told(newTtl).clockSet(1, HOUR_MS).clockSet(2, HOUR_MS).clockSet(1, 0);
    const created = before.wait(100).applied(1, zxid(1, 1), { session: 9, op: create });
    expect(() => reaped(created.wait(100).started(1))).toThrow(early);
  });

  it('counts from when it was proposed, though it is first applied much later', () => {
    const body = new Uint8Array();
    const batch = ProposalBatch.of([{ zxid: zxid(1, 1), previous: 0, body }]);
    const proposed = new Told(newTtl).step(1, TICK, append(1, batch));
    const applied = proposed.wait(900).applied(1, zxid(1, 1), { session: 9, op: create });
    reaped(applied.wait(100));
  });

  it('refuses who stays for long under one leader', () => {
    const error = { kind: 'error', code: -1, codes: null } as const;
    const goesOn = (told: Told, state?: ReplicatedState): Told =>
      told.wait(137_000).applied(1, zxid(1, 9), { session: 9, op: error }, state);
    goesOn(made());
    expect(() => goesOn(made().step(1, TICK, LEADS))).toThrow(/still has \/t/);
  });
});
