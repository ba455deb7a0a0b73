// The preparer takes time for a multi and a large request: the clock moves when one is decided.
import { type ForwardedRequest, OpCode, RequestBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { RequestPreparer } from '../pipeline/request-preparer.js';
import { LeaderService, ProposalBatcher } from './leader.js';
import type { DriverActions, DriverParts } from './parts.js';

const SHARE_MS = 10;
const MULTI_MS = 4;
const LARGE_BYTES = 16 << 10;

/** Records what reached it, in order; a multi or a large request takes 4 ms. */
class SlowPreparer {
  readonly done: string[] = [];
  readonly ends = { waiting: 0 };
  readonly txns = { zxids: { last: 0 }, overlay: overlayOf(this) };
  nowMs = 0;
  /** How many more it may prepare. */
  room = Number.POSITIVE_INFINITY;

  onRequest(origin: number, { opcode, request, body }: ForwardedRequest): void {
    if (opcode === OpCode.multi || body.length >= LARGE_BYTES) this.nowMs += MULTI_MS;
    this.done.push(`${origin}:${request}`);
    this.room -= 1;
  }
  onAttach(origin: number): null {
    this.done.push(`${origin}:attach`);
    return null;
  }
  onTouch(origin: number): void {
    this.done.push(`${origin}:touch`);
  }
  takeDetaches(): readonly never[] {
    return [];
  }
}

function overlayOf(preparer: { readonly room: number }) {
  return {
    get size(): number {
      return -preparer.room;
    },
  };
}

function requests(opcode: number, from: number, count: number, bodyBytes = 0) {
  const items = Array.from({ length: count }, (_, index) => ({
    request: from + index,
    session: 1,
    attachment: 1,
    opcode,
    body: new Uint8Array(bodyBytes),
    identities: [],
  }));
  return { kind: 'requests', batch: RequestBatch.of(items) } as const;
}

const ASKER = { request: 9, attachment: 1, session: 1, password: new Uint8Array(16) };
const ATTACH = { kind: 'attach', ...ASKER } as const;

function bench() {
  const preparer = new SlowPreparer();
  const parts = {
    timers: { nowMs: () => preparer.nowMs },
    options: { leaderShareMsMax: SHARE_MS, overlaySizeMax: 0 },
  } as unknown as DriverParts;
  const driver = { step: () => {}, answer: () => {} } as unknown as DriverActions;
  const service = new LeaderService(
    parts,
    driver,
    preparer as unknown as RequestPreparer,
    new ProposalBatcher(0, parts.timers, () => {}),
    () => ({ nowMs: preparer.nowMs, wallMs: 1 }),
  );
  const turn = (): string[] => {
    service.renew();
    service.runWaiting();
    return preparer.done.splice(0);
  };
  return { preparer, service, turn };
}

describe('what members ask of a leader', () => {
  it('takes a share of each turn, and keeps its order over turns', () => {
    const { preparer, service, turn } = bench();
    service.onMessage(2, requests(OpCode.multi, 1, 5));
    service.onMessage(2, ATTACH);
    service.onMessage(3, requests(OpCode.multi, 1, 2));
    service.onMessage(2, requests(OpCode.create, 7, 1));
    // The share begins with the first look at the clock, behind the first multi.
    expect(preparer.done.splice(0)).toEqual(['2:1', '2:2', '2:3', '2:4']);
    expect(service.hasMore).toBe(true);
    service.runWaiting();
    expect(preparer.done).toEqual([]);
    expect(turn()).toEqual(['2:5', '2:attach', '3:1', '3:2', '2:7']);
    expect(service.hasMore).toBe(false);
  });

  it('takes no longer for large requests, though others of their kind take no time', () => {
    const { preparer, service, turn } = bench();
    service.onMessage(2, requests(OpCode.setAcl, 1, 6, LARGE_BYTES));
    expect(preparer.done.splice(0)).toEqual(['2:1', '2:2', '2:3', '2:4']);
    expect(turn()).toEqual(['2:5', '2:6']);
    service.onMessage(2, requests(OpCode.setAcl, 7, 16, LARGE_BYTES - 1));
    expect(preparer.done.length).toBe(16);
  });

  it('waits while as much is in flight as may be, and does not ask for turns meanwhile', () => {
    const { preparer, service, turn } = bench();
    preparer.room = 3;
    service.onMessage(2, requests(OpCode.create, 1, 5));
    service.onMessage(2, { kind: 'sync', request: 6 });
    service.onMessage(3, { kind: 'touch', sessions: [1] });
    expect(preparer.done.splice(0)).toEqual(['2:1', '2:2', '2:3', '3:touch']);
    expect([service.hasMore, turn()]).toEqual([false, []]);
    preparer.room = 1;
    expect([service.hasMore, turn()]).toEqual([true, ['2:4']]);
    preparer.room = 1;
    // A sync needs no room of its own.
    expect([turn(), service.confirmed.pending]).toEqual([['2:5'], 1]);
  });

  it('is overtaken by touches, so that no lease runs out meanwhile', () => {
    const { preparer, service, turn } = bench();
    service.onMessage(2, requests(OpCode.multi, 1, 6));
    service.onMessage(3, ATTACH);
    service.onMessage(3, { kind: 'touch', sessions: [1] });
    expect(preparer.done.splice(0)).toEqual(['2:1', '2:2', '2:3', '2:4', '3:touch']);
    expect(turn()).toEqual(['2:5', '2:6', '3:attach']);
  });

  it('takes no more than its share of a turn where none of it is a multi either', () => {
    const { preparer, service } = bench();
    service.onMessage(2, requests(OpCode.create, 1, 100));
    expect(preparer.done).toHaveLength(100);
    preparer.nowMs += SHARE_MS;
    service.onMessage(2, requests(OpCode.create, 101, 100));
    expect(preparer.done.length).toBeLessThan(120);
    expect(service.hasMore).toBe(true);
  });
});
