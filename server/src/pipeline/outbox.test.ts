/**
 * Goal: whatever others have sent, a client's write is on its way soon; nothing is lost, reordered
 * or forwarded beyond the bound. Method: connections with multis of any size against the rules,
 * with the answers in any order of events; and a whole member whose good client has bad neighbours.
 */
import { encode, MultiRequest, OpCode } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TestEnsemble, taken } from '../simulated/pipeline/test-ensemble.js';
import type { Connection, QueueEntry } from './connection.js';
import { Outbox } from './outbox.js';

const CHANGES_MAX = 1_024;
const PER_TURN = 64;
const LARGEST = 4_096;

/** What the outbox looks at. */
const bodies = new Map<number, Uint8Array>();
function entryOf(request: number, changes: number): QueueEntry {
  const body = bodies.get(changes) ?? multiOf(changes);
  bodies.set(changes, body);
  const from = { request, session: 1, attachment: 1, opcode: OpCode.multi, identities: [] };
  return { ...from, body, changes: 0, isForwarded: false } as never;
}
function multiOf(changes: number): Uint8Array {
  const operation = { opcode: OpCode.check, request: { path: '/', version: -1 } } as const;
  const ops = Array.from({ length: changes }, () => operation);
  return encode(MultiRequest, { ops });
}
function laneOf({ changes }: QueueEntry): 'small' | 'large' {
  return changes > PER_TURN ? 'large' : 'small';
}
function connectionOf(id: number): Connection {
  return { id } as Connection;
}

class Member {
  readonly outbox = new Outbox({ firstRequest: 1, outstandingMax: 100, multiOpsMax: LARGEST });
  readonly connections: Connection[];
  /** Sent and not forwarded, by connection. */
  readonly held: QueueEntry[][];
  /** At the leader, the oldest first. */
  readonly underWay: { readonly from: number; readonly entry: QueueEntry }[] = [];
  #requests = 0;

  constructor(count = 4) {
    this.connections = Array.from({ length: count }, (_, id) => connectionOf(id));
    this.held = this.connections.map((): QueueEntry[] => []);
  }

  send(from: number, changes: number): void {
    this.#send(from, entryOf(++this.#requests, changes));
  }

  close(from: number): void {
    this.#send(from, { ...entryOf(++this.#requests, 1), kind: 'close' });
  }

  #send(from: number, entry: QueueEntry): void {
    this.held[from]?.push(entry);
    this.outbox.accept(this.connections[from] as Connection, entry);
    this.take();
  }

  answerOldest(): void {
    const oldest = this.underWay.shift();
    if (oldest === undefined) return;
    this.outbox.onAnswered(oldest.entry);
    this.take();
  }

  drop(from: number): void {
    this.outbox.onConnectionGone(this.connections[from] as Connection, this.held[from] ?? []);
    this.held[from] = [];
    this.connections[from] = connectionOf(from);
  }

  /** Each is the oldest of its connection that was not forwarded. */
  take(): void {
    for (const { request } of taken({ takeForLeader: () => this.outbox.take() }).requests) {
      const from = this.held.findIndex(([oldest]) => oldest?.request === request);
      expect(from, `request ${request} is somebody's oldest`).toBeGreaterThanOrEqual(0);
      const entry = this.held[from]?.shift() as QueueEntry;
      expect(entry.isForwarded).toBe(true);
      this.underWay.push({ from, entry });
    }
  }

  get changes(): number {
    return this.changesOf('small') + this.changesOf('large');
  }
  changesOf(lane: 'small' | 'large'): number {
    const entries = this.underWay.map(({ entry }) => entry);
    return entries.reduce((sum, entry) => sum + (laneOf(entry) === lane ? entry.changes : 0), 0);
  }
  get heldCount(): number {
    return this.held.reduce((sum, entries) => sum + entries.length, 0);
  }
}

const from = fc.nat(3);
const step = fc.oneof(
  fc.record({
    do: fc.constant('send'),
    from,
    changes: fc.constantFrom(1, 1, 10, PER_TURN, PER_TURN + 1, 500, LARGEST),
  }),
  fc.record({ do: fc.constant('answer') }),
  fc.record({ do: fc.constant('drop'), from }),
);

describe('what a member forwards', () => {
  it('stays in order and below the bound, and all of it goes in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const member = new Member();
        for (const one of steps) {
          if ('changes' in one) member.send(one.from, one.changes);
          else if ('from' in one) member.drop(one.from);
          else member.answerOldest();
          expect(member.outbox.changes).toBe(member.changes);
          expect(member.changesOf('small')).toBeLessThan(CHANGES_MAX + PER_TURN);
          expect(member.changesOf('large')).toBeLessThan(CHANGES_MAX + LARGEST);
          // Held only while the bound of its lane is reached.
          for (const [oldest] of member.held) {
            if (oldest === undefined) continue;
            expect(member.changesOf(laneOf(oldest))).toBeGreaterThanOrEqual(CHANGES_MAX);
          }
        }
        while (member.underWay.length > 0) member.answerOldest();
        expect(member.heldCount).toBe(0);
        expect(member.outbox.changes).toBe(0);
      }),
    );
  });

  it('lets no single write wait for a large multi of somebody else', () => {
    const member = new Member();
    for (const neighbour of [0, 1, 2]) {
      for (let count = 0; count < 10; count++) member.send(neighbour, 1_000);
    }
    const waiting = member.heldCount;
    member.send(3, 1);
    expect(member.heldCount).toBe(waiting);
    expect(member.underWay.at(-1)?.from).toBe(3);
    // But behind those of its own connection it stays in order.
    member.send(0, 1);
    expect(member.heldCount).toBe(waiting + 1);
  });

  it('serves a single write before the second multi of anybody else', () => {
    const member = new Member();
    for (const neighbour of [0, 1, 2]) {
      for (let count = 0; count < 100; count++) member.send(neighbour, PER_TURN);
    }
    member.send(3, 1);
    const isSent = () => member.held[3]?.length === 0;
    const waitingBefore = member.heldCount;
    while (!isSent()) member.answerOldest();
    const handedOn = waitingBefore - member.heldCount;
    const before = member.underWay.findIndex(({ from: sender }) => sender === 3);
    const after = member.underWay.length - 1 - before;
    expect(handedOn - 1 - after).toBeLessThanOrEqual(3);
  });

  it.each([
    [1, 1, PER_TURN],
    [10, 1, PER_TURN],
    [1, 10, PER_TURN],
    [1, PER_TURN + 1, LARGEST],
    [10, 100, LARGEST],
    [1, LARGEST, LARGEST],
  ])(
    'shares a lane by changes, and not by writes: %i writers of %i beside one of %i',
    (writers, size, largest) => {
      const member = new Member(1 + writers);
      const handedOn = Array.from({ length: 1 + writers }, () => 0);
      // Nobody ever runs out of writes, however long the others save up.
      const sendMore = () => {
        for (const [sender, held] of member.held.entries()) {
          const changes = sender === 0 ? largest : size;
          while (held.length * changes <= 2 * LARGEST) member.send(sender, changes);
        }
      };
      sendMore();
      for (let total = 0; total < 40_000; ) {
        const answered = member.underWay.length - 1;
        member.answerOldest();
        for (const { from: sender, entry } of member.underWay.slice(answered)) {
          handedOn[sender] = (handedOn[sender] ?? 0) + entry.changes;
          total += entry.changes;
        }
        sendMore();
      }
      const [large = 0, ...others] = handedOn;
      for (const other of others) {
        expect(Math.abs(large - other)).toBeLessThanOrEqual(2 * LARGEST + 2 * PER_TURN);
      }
    },
  );

  it('forgets what a lost connection had waiting, but not the close of a session', () => {
    const member = new Member();
    const full = CHANGES_MAX / PER_TURN;
    for (let count = 0; count < full; count++) member.send(0, PER_TURN);
    for (const sender of [1, 2]) for (let count = 0; count < 3; count++) member.send(sender, 1);
    member.close(2);
    member.drop(1);
    expect(member.underWay).toHaveLength(full);
    member.outbox.onConnectionGone(member.connections[2] as Connection, member.held[2] ?? []);
    member.take();
    expect(member.underWay.slice(full).map(({ from: sender }) => sender)).toEqual([2, 2, 2, 2]);
    while (member.underWay.length > 0) member.answerOldest();
    expect(member.outbox.changes).toBe(0);
  });
});

describe('a good client beside multis without end', () => {
  it('is answered while most of them still wait', () => {
    const ensemble = new TestEnsemble();
    const good = ensemble.connect();
    good.create('/good');
    const bad = ensemble.connect();
    bad.create('/bad');
    ensemble.settle();
    good.take();
    bad.take();
    const request = { path: '/bad', data: null, version: -1 };
    const ops = Array.from({ length: 1_000 }, () => ({ opcode: OpCode.setData, request }) as const);
    for (let count = 0; count < 20; count++) bad.send(OpCode.multi, MultiRequest, { ops });
    good.setData('/good', 'x');
    let answers = 0;
    while (good.take().length === 0) {
      ensemble.forward();
      ensemble.apply(1, 1);
      answers += bad.take().length;
    }
    expect(answers).toBeLessThanOrEqual(3);
    ensemble.settle();
    expect(answers + bad.take().length).toBe(20);
  });
});
