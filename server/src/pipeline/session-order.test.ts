// Tests one session's promise, on random schedules: replies come in the order of the requests, each
// read shows every write of its session before it and none after, zxids never fall, and an event is
// seen before any reply that shows its change. Members lag at random; sync brings them up to date.
// Clients take their output at random, and few answers fill it.
import { OpCode, PathRequest, WATCH_XID } from '@rookery/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Reply, TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import type { Pipeline } from './pipeline.js';

type Step =
  | { readonly kind: 'write' | 'read' | 'watch' | 'sync' | 'ping'; readonly who: number }
  | { readonly kind: 'forward' }
  | { readonly kind: 'take'; readonly who: number }
  | { readonly kind: 'apply'; readonly member: number; readonly count: number };

/** A handful of answers. */
const SOFT_BYTES = 300;

const who = fc.integer({ min: 0, max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('write' as const, 'read' as const, 'watch' as const),
      who,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('sync' as const, 'ping' as const), who }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'forward' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const), who }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('apply' as const),
      member: fc.integer({ min: 1, max: 3 }),
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
);

interface Expected {
  readonly xid: number;
  /** The data that a read must show. */
  readonly shows: string | null;
  readonly arms: boolean;
}

/** Sends numbered writes to a znode of its own, and checks what comes back. */
class Checker {
  readonly client: TestClient;
  readonly #pipeline: Pipeline;
  readonly #path: string;
  readonly #expected: Expected[] = [];
  #written = 0;
  #zxid = 0;
  /** What the read showed that set the watch which is armed. */
  #watching: string | null = null;

  constructor(client: TestClient, pipeline: Pipeline, path: string) {
    this.client = client;
    this.#pipeline = pipeline;
    this.#path = path;
  }

  send(kind: 'write' | 'read' | 'watch' | 'sync' | 'ping'): void {
    const { client } = this;
    const path = this.#path;
    // Net delivers nothing then.
    if (client.holds.size > 0) return;
    if (kind === 'write') {
      this.#written += 1;
      this.#expect({ xid: client.setData(path, String(this.#written)) });
    } else if (kind === 'sync') {
      this.#expect({ xid: client.send(OpCode.sync, PathRequest, { path }) });
    } else if (kind === 'ping') {
      this.#expect({ xid: client.sendRaw(OpCode.ping, new Uint8Array(), -2) });
    } else {
      const arms = kind === 'watch';
      this.#expect({ xid: client.getData(path, arms), shows: String(this.#written), arms });
    }
  }

  check(): void {
    for (const reply of this.client.take()) {
      expect(Number(reply.zxid)).toBeGreaterThanOrEqual(this.#zxid);
      this.#zxid = Number(reply.zxid);
      if (reply.xid === WATCH_XID) this.#watching = null;
      else this.#checkReply(reply);
    }
    if (this.client.holds.has('room')) this.#pipeline.onRoom(this.client.id, 0);
  }

  get unanswered(): number {
    return this.#expected.length;
  }

  #expect(expected: Partial<Expected> & { readonly xid: number }): void {
    this.#expected.push({ shows: null, arms: false, ...expected });
  }

  #checkReply({ xid, error, body }: Reply): void {
    const expected = this.#expected.shift();
    expect([xid, error]).toEqual([expected?.xid, 0]);
    if (expected === undefined || expected.shows === null) return;
    const data = Buffer.from(body);
    const shown = data.subarray(4, 4 + data.readInt32BE(0)).toString();
    expect(shown).toBe(expected.shows);
    // An armed watch that saw an older value must have fired before this reply.
    if (this.#watching !== null) expect(shown).toBe(this.#watching);
    if (expected.arms) this.#watching = shown;
  }
}

it('a session sees its own requests in order and never goes back', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 120 }), (steps) => {
      const ensemble = new TestEnsemble({ size: 3 });
      const checkers = [1, 2, 3].map((member) => {
        const client = ensemble.connect(member);
        const path = `/own${member}`;
        client.create(path, { data: '0' });
        ensemble.settle();
        client.take();
        client.softBytes = SOFT_BYTES;
        return new Checker(client, ensemble.member(member).pipeline, path);
      });
      for (const one of steps) {
        if (one.kind === 'forward') ensemble.forward();
        else if (one.kind === 'apply') ensemble.apply(one.member, one.count);
        else if (one.kind === 'take') checkers[one.who]?.check();
        else checkers[one.who]?.send(one.kind);
      }
      ensemble.settle();
      while (checkers.some(({ unanswered }) => unanswered > 0)) {
        for (const checker of checkers) checker.check();
        ensemble.settle();
      }
      for (const checker of checkers) {
        expect(checker.unanswered).toBe(0);
        expect(checker.client.stats.outstanding).toBe(0);
      }
      const digests = ensemble.members.map(({ state }) => state.digest());
      expect(new Set(digests).size).toBe(1);
      for (const { pipeline } of ensemble.members) expect(pipeline.outstanding).toBe(0);
    }),
    { numRuns: 150 },
  );
});
