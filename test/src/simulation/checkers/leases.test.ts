/**
 * A session that ends too early or never is detected, and one that ends in time is accepted. A
 * leader's ticks, one session and one client are simulated by hand. H is 1 s, the timeout 4 s, a
 * tick 50 ms.
 */
import { makeZxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { ZabInput, ZabOutput } from '../../simulated.js';
import type { Invocation, Operation, SessionSeen } from '../contract/history.js';
import { newLeases } from './leases.js';

const FACTS = {
  members: 3,
  peerTimeoutMs: 1000,
  heartbeatMs: 100,
  clockDrift: 0,
  clockToleranceMs: 10_000,
  reapEveryMs: 60_000,
  latencyMaxMs: 1,
};
const TIMEOUT_MS = 4_000;
const DEADLINE_MS = TIMEOUT_MS + 2_000;
const TICK_MS = 50;
const SESSION = makeZxid(1, 1);

class Scene {
  readonly #checker = newLeases(FACTS);
  #order = 0;
  #atMs = 0;
  #zxid = makeZxid(2, 0);

  constructor() {
    this.#apply(SESSION, { kind: 'createSession', timeoutMs: TIMEOUT_MS });
    this.#step({ kind: 'tick', nowMs: 0 }, [leads(2)]);
  }

  /** Time passes while the leader ticks. */
  runs(ms: number): this {
    for (const endMs = this.#atMs + ms; this.#atMs < endMs; ) {
      this.#atMs += TICK_MS;
      this.#step({ kind: 'tick', nowMs: this.#atMs });
    }
    return this;
  }

  /** Time passes, and the leader does not tick. */
  stands(ms: number): this {
    this.#atMs += ms;
    return this;
  }

  /** The session's client, connected to the leader, reads. */
  reads(): this {
    return this.#asks(SESSION, { kind: 'get', path: '/a', watch: false }, this.#zxid);
  }

  /** Another client writes. */
  othersWrite(): this {
    this.#zxid += 1;
    const write = { kind: 'set', path: '/a', data: '', version: -1 } as const;
    return this.#asks(7, write, this.#zxid);
  }

  connects(member = 1): this {
    return this.#seesSession('resumed', member);
  }

  /** The leader loses its link with this member. */
  loses(peer: number): this {
    this.#step({ kind: 'disconnected', peer, link: 1 });
    return this;
  }

  /** The leader proposes what `expires` applies. */
  decides(): this {
    const batch = Object.assign(Object.create(null), { last: this.#zxid + 1 }) as never;
    this.#step({ kind: 'tick', nowMs: this.#atMs }, [{ kind: 'append', ticket: 1, batch }]);
    return this;
  }

  /** The session's client received no answer when it tried to resume it. */
  givesUp(): this {
    return this.#seesSession('abandoned', 0);
  }

  #seesSession(change: SessionSeen['change'], member: number): this {
    const seen = { change, client: 1, connection: 1, zxid: 0 } as const;
    const session = { session: SESSION, member, timeoutMs: TIMEOUT_MS };
    const stamp = this.#stamp();
    this.#checker.onSession?.({ ...stamp, ...seen, ...session, askedAtMs: stamp.atMs });
    return this;
  }

  expires(): this {
    this.#zxid += 1;
    return this.#apply(this.#zxid, { kind: 'closeSession' });
  }

  #asks(session: number, operation: Operation, zxid: number): this {
    const asked = { client: 1, session, connection: 1, operation };
    const invocation: Invocation = { ...this.#stamp(), ...asked };
    this.#checker.onInvocation?.(invocation);
    const none = { path: null, data: null, stat: null, children: null, parts: null };
    const result = { error: 0, zxid, ...none };
    this.#checker.onReply?.({ ...this.#stamp(), invocation, result });
    return this;
  }

  #apply(
    zxid: number,
    op: { kind: 'closeSession' } | { kind: 'createSession'; timeoutMs: number },
  ): this {
    const whole = op.kind === 'closeSession' ? op : { ...op, password: new Uint8Array(16) };
    const txn = { origin: 0, request: 0, session: SESSION, time: 0, op: whole };
    const state: never = Object.create(null) as never;
    this.#checker.onApplied?.({ ...this.#stamp(), ...OF_LEADER, zxid, txn, state });
    return this;
  }

  #step(input: ZabInput, outputs: readonly ZabOutput[] = []): void {
    const own = { ownMs: this.#atMs };
    this.#checker.onStep?.({ ...this.#stamp(), ...OF_LEADER, ...own, input, outputs });
  }

  #stamp() {
    this.#order += 1;
    return { order: this.#order, atMs: this.#atMs };
  }
}

const OF_LEADER = { member: 1, incarnation: 1, ownMs: 0 };

function leads(epoch: number): ZabOutput {
  return { kind: 'role', role: 'leading', leader: 1, epoch };
}

describe('a lease', () => {
  it('may end a timeout and 2H after the leader began, not before', () => {
    expect(() => new Scene().runs(DEADLINE_MS).expires()).not.toThrow();
    expect(() => new Scene().runs(DEADLINE_MS - 500).expires()).toThrow('since it began to lead');
  });

  it('may end a timeout and 2H after the leader answered, not before', () => {
    const scene = () => new Scene().connects().runs(DEADLINE_MS).reads();
    expect(() => scene().runs(DEADLINE_MS).expires()).not.toThrow();
    expect(() =>
      scene()
        .runs(TIMEOUT_MS + 500)
        .expires(),
    ).toThrow('since it answered it');
  });

  it('may end a timeout and 2H after the leader lost the member that served it, not before', () => {
    const silent = () => new Scene().runs(TICK_MS).connects(2).runs(3_000);
    const soon = () => silent().runs(DEADLINE_MS - 500);
    expect(() => soon().expires()).not.toThrow();
    expect(() =>
      silent()
        .loses(2)
        .runs(DEADLINE_MS - 500)
        .expires(),
    ).toThrow('since it lost the member that served it');
    expect(() => silent().loses(2).runs(DEADLINE_MS).expires()).not.toThrow();
    // The end was decided, and rightly, before the leader lost the member.
    const decided = soon().decides().loses(2).runs(TICK_MS);
    expect(() => decided.expires()).not.toThrow();
    const elsewhere = () => silent().loses(3);
    expect(() =>
      elsewhere()
        .runs(DEADLINE_MS - 500)
        .expires(),
    ).not.toThrow();
    const unsure = () => silent().givesUp().loses(2);
    expect(() =>
      unsure()
        .runs(DEADLINE_MS - 500)
        .expires(),
    ).not.toThrow();
  });

  it('is not extended by requests after its timeout, when the end may be due', () => {
    const scene = () => new Scene().connects().runs(TICK_MS).reads();
    expect(() => scene().runs(DEADLINE_MS).reads().runs(50).expires()).not.toThrow();
    const inTime = () =>
      scene()
        .runs(TIMEOUT_MS - 500)
        .reads();
    expect(() => inTime().runs(DEADLINE_MS).expires()).not.toThrow();
    expect(() =>
      inTime()
        .runs(TIMEOUT_MS + 500)
        .expires(),
    ).toThrow('since it answered it');
  });

  it('does not run while the leader is stalled', () => {
    const scene = new Scene().connects().runs(DEADLINE_MS).reads().stands(60_000);
    expect(() => scene.runs(1_000).expires()).toThrow('having run for 1050 ms of 6000');
  });

  it('ends after a longer silence: requests sent then come after its end', () => {
    const silent = () =>
      new Scene()
        .connects()
        .reads()
        .runs(DEADLINE_MS + 2_500);
    expect(() => silent().othersWrite()).toThrow('silent since 0 ms, is not ended');
    expect(() => silent().expires().othersWrite()).not.toThrow();
    expect(() => silent().reads().othersWrite()).not.toThrow();
  });

  it('may continue for a client that gave up a handshake, which may have arrived later', () => {
    const scene = new Scene()
      .givesUp()
      .connects()
      .reads()
      .runs(DEADLINE_MS + 2_500);
    expect(() => scene.othersWrite()).not.toThrow();
  });

  it('ends for a session of which no client was told', () => {
    const scene = new Scene().runs(DEADLINE_MS + 2_500);
    expect(() => scene.othersWrite()).toThrow('of which no client was told');
  });
});
