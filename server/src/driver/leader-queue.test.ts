// The service takes time for a multi: the clock moves when one is decided.
import { type ForwardedRequest, OpCode, RequestBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { LeaderQueue } from './leader-queue.js';
import type { LeaderService, Share } from './leader-service.js';

const SHARE_MS = 10;
const MULTI_MS = 4;

/** Records what reached the service, in order; a multi takes 4 ms. */
class SlowService {
  readonly done: string[] = [];
  nowMs = 0;
  /** How many more it may prepare. */
  room = Number.POSITIVE_INFINITY;

  get hasRoom(): boolean {
    return this.room > 0;
  }

  onRequests(origin: number, items: readonly ForwardedRequest[], share: Share): number {
    let next = share.from;
    for (;;) {
      const item = items[next];
      if (item === undefined) return next;
      if (item.opcode === OpCode.multi) this.nowMs += MULTI_MS;
      this.done.push(`${origin}:${item.request}`);
      this.room -= 1;
      next += 1;
      if (!share.mayContinue(item.opcode)) return next;
    }
  }
  onSync(origin: number): void {
    this.done.push(`${origin}:sync`);
  }
  onAttach(origin: number): void {
    this.done.push(`${origin}:attach`);
  }
  onTouch(origin: number): void {
    this.done.push(`${origin}:touch`);
  }
}

function requests(opcode: number, from: number, count: number) {
  const items = Array.from({ length: count }, (_, index) => ({
    ...{ request: from + index, session: 1, attachment: 1, opcode },
    ...{ body: new Uint8Array(0), identities: [] },
  }));
  return { kind: 'requests', batch: RequestBatch.of(items) } as const;
}

function bench() {
  const service = new SlowService();
  const queue = new LeaderQueue(
    service as unknown as LeaderService,
    { nowMs: () => service.nowMs },
    SHARE_MS,
  );
  const turn = (): string[] => {
    queue.renew();
    queue.work();
    return service.done.splice(0);
  };
  return { service, queue, turn };
}

describe('what members ask of a leader', () => {
  it('takes a share of each turn, and keeps its order over turns', () => {
    const { service, queue, turn } = bench();
    queue.onMessage(2, requests(OpCode.multi, 1, 5));
    queue.onMessage(2, { kind: 'sync', request: 6 });
    queue.onMessage(3, requests(OpCode.multi, 1, 2));
    queue.onMessage(2, requests(OpCode.create, 7, 1));
    // The share begins with the first look at the clock, behind the first multi.
    expect(service.done.splice(0)).toEqual(['2:1', '2:2', '2:3', '2:4']);
    expect(queue.hasMore).toBe(true);
    queue.work();
    expect(service.done).toEqual([]);
    expect(turn()).toEqual(['2:5', '2:sync', '3:1', '3:2', '2:7']);
    expect(queue.hasMore).toBe(false);
  });

  it('waits while as much is in flight as may be, and does not ask for turns meanwhile', () => {
    const { service, queue, turn } = bench();
    service.room = 3;
    queue.onMessage(2, requests(OpCode.create, 1, 5));
    queue.onMessage(2, { kind: 'sync', request: 6 });
    queue.onMessage(3, { kind: 'touch', sessions: [1] });
    expect(service.done.splice(0)).toEqual(['2:1', '2:2', '2:3', '3:touch']);
    expect([queue.hasMore, turn()]).toEqual([false, []]);
    service.room = 1;
    expect([queue.hasMore, turn()]).toEqual([true, ['2:4']]);
    service.room = 1;
    // A sync needs no room of its own.
    expect(turn()).toEqual(['2:5', '2:sync']);
  });

  it('is not kept from leases: touches overtake what waits', () => {
    const { service, queue, turn } = bench();
    queue.onMessage(2, requests(OpCode.multi, 1, 6));
    const attach = {
      kind: 'attach',
      request: 9,
      attachment: 1,
      session: 1,
      password: new Uint8Array(16),
    } as const;
    queue.onMessage(3, attach);
    queue.onMessage(3, { kind: 'touch', sessions: [1] });
    expect(service.done.splice(0)).toEqual(['2:1', '2:2', '2:3', '2:4', '3:touch']);
    expect(turn()).toEqual(['2:5', '2:6', '3:attach']);
  });

  it('is looked at after some requests that are no multis, too', () => {
    const { service, queue } = bench();
    queue.onMessage(2, requests(OpCode.create, 1, 100));
    expect(service.done).toHaveLength(100);
    service.nowMs += SHARE_MS;
    queue.onMessage(2, requests(OpCode.create, 101, 100));
    expect(service.done.length).toBeLessThan(120);
    expect(queue.hasMore).toBe(true);
  });
});
