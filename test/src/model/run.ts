/**
 * Runs one plan against the model and a running ensemble at once and throws where they disagree.
 *
 * Within a burst everything is pipelined; bursts wait for each other, and one that follows another
 * session's writes begins with a sync. So the model knows the whole stream of each connection, and
 * streams are compared item by item: replies, Stats, zxids, events and their places between the
 * replies. Every run has a prefix and sessions of its own, so any number of runs can share an
 * ensemble.
 */
import type { Int64 } from '@rookery/protocol';
import { AUTH_XID, encode, JuteWriter, OpCode, RequestHeader } from '@rookery/protocol';
import type { Member } from '../harness/member.js';
import { connectTo } from '../harness/use-client.js';
import { within } from '../harness/wait.js';
import type { Reply, Session, WireClient } from '../harness/wire-client.js';
import { Bindings } from './bindings.js';
import { compareStreams, Disagreement } from './compare.js';
import type { Dialect } from './dialect.js';
import { Model, type ModelSession, type Remains } from './model.js';
import { isMalformed } from './multi.js';
import type { Operation } from './operations.js';
import { type Burst, type Plan, type QuotaStep, quotaOperations } from './plans.js';
import { SHARED } from './tree.js';
import { requestOf } from './wire.js';

const REPLIES_DEADLINE_MS = 30_000;
const SESSION_TIMEOUT_MS = 30_000;

export interface RunOptions {
  readonly members: readonly Member[];
  readonly dialect: Dialect;
  readonly prefix: string;
  /** The index of the member that leads, from 0. */
  readonly leader: number;
  /** Resolves once the leader has applied everything that was answered before. */
  readonly settle: () => Promise<void>;
  /** The members have local sessions. */
  readonly localSessions: boolean;
  /** The members have lost their quorum: this is what is left of an earlier run. */
  readonly remains?: Remains & { readonly bindings: Bindings };
}

/** One of the plan's sessions; a new one takes its place when it is closed. */
interface Actor {
  readonly number: number;
  member: number;
  state: ModelSession | undefined;
  session: Session | undefined;
  /** Sets the watches again that the last connection had. */
  watchesAgain: Operation | undefined;
  client: WireClient | undefined;
  lastZxid: Int64;
  /** How much of the model's stream and of this connection's has been compared. */
  compared: number;
  arrived: number;
}

const PREFIX: Operation = { op: 'create', path: '', data: 'root', acl: 'open', flags: 0, ttlMs: 0 };
const SYNC: Operation = { op: 'sync', path: '' };
/** These are refused, but only after everything before them is applied. */
const REFUSED_WRITE: Operation = { op: 'delete', path: '/none/such', version: -1 };

/**
 * Resolves with the codes of all answers, including those inside a multi, as both sides had them.
 */
export async function runPlan(plan: Plan, options: RunOptions): Promise<readonly number[]> {
  const run = new Run(options);
  try {
    await run.all(plan);
    return run.codes;
  } finally {
    await run.leave();
  }
}

/** Runs the operations and leaves their results, for runs that can change nothing. */
export async function leaveBehind(
  operations: readonly Operation[],
  options: RunOptions,
): Promise<NonNullable<RunOptions['remains']>> {
  const run = new Run(options);
  try {
    return await run.leaveBehind(operations);
  } finally {
    await run.leave();
  }
}

class Run {
  readonly #options: RunOptions;
  readonly #model: Model;
  readonly #bindings: Bindings;
  readonly #actors: Actor[] = [];
  /** Members from which a connection of this run has moved away. */
  readonly #left = new Set<number>();
  #hasQuotas = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#model = new Model(options);
    this.#bindings = options.remains?.bindings ?? new Bindings();
  }

  get #isReadOnly(): boolean {
    return this.#options.remains !== undefined;
  }

  get codes(): readonly number[] {
    return this.#model.codes;
  }

  async all(plan: Plan): Promise<void> {
    this.#hasQuotas = plan.some(({ step }) => step === 'quota');
    if (!this.#isReadOnly) await this.#burst(this.#actor(0), [PREFIX]);
    for (const step of plan) {
      const actor = this.#actor(step.session);
      if (step.step === 'burst') await this.#planned(actor, step);
      else if (step.step === 'quota') await this.#quota(actor, step);
      else if (step.step === 'vanish') await this.#vanish(actor);
      else await this.#close(actor);
    }
    const reads = this.#model.tree.paths().flatMap((path) => readsOf(path));
    for (const actor of this.#actors) {
      const before = this.#isReadOnly ? [] : [this.#barrier(actor)];
      if (actor.client !== undefined) await this.#burst(actor, [...before, ...reads]);
    }
    for (const actor of this.#actors) await this.#close(actor);
  }

  async leaveBehind(operations: readonly Operation[]) {
    const actor = this.#actor(0);
    await this.#burst(actor, [PREFIX, ...operations]);
    await this.#close(actor);
    const { tree, lastTxn } = this.#model;
    return { tree, lastTxn, bindings: this.#bindings };
  }

  async leave(): Promise<void> {
    await Promise.all(this.#actors.map((actor) => actor.client?.drop()));
  }

  /**
   * The end of a local session is not a write, so the session sees whatever state its member has.
   */
  async #close(actor: Actor): Promise<void> {
    if (actor.state === undefined) return;
    const before = this.#options.localSessions ? [this.#barrier(actor)] : [];
    await this.#burst(actor, [...before, { op: 'closeSession' }]);
  }

  async #planned(actor: Actor, step: Burst): Promise<void> {
    if (step.moves) await this.#vanish(actor);
    if (actor.client === undefined) actor.member = this.#memberFor(actor, step.member);
    const { watchesAgain } = actor;
    await this.#connected(actor, step.readOnly);
    const again = step.restores && watchesAgain !== undefined ? [watchesAgain] : [];
    const isBehind = (actor.state?.seen ?? 0) < this.#model.lastTxn;
    const sync = isBehind ? [this.#barrier(actor)] : [];
    // The events that a session receives depend on its identities, so it first receives everything
    // that is due.
    if (step.auth !== null && isBehind) await this.#burst(actor, sync);
    const before = step.auth === null ? sync : [{ op: 'auth', user: step.auth } as const, SYNC];
    const asked = step.operations.filter((operation) => this.#isAsked(actor, operation));
    await this.#pipelined(actor, [...before, ...again, ...asked]);
  }

  async #quota(actor: Actor, step: QuotaStep): Promise<void> {
    await this.#connected(actor);
    await this.#pipelined(actor, [this.#barrier(actor), ...quotaOperations(step)]);
  }

  /** A local session is known to its member alone. */
  #memberFor(actor: Actor, wanted: number): number {
    return this.#options.localSessions && actor.session !== undefined ? actor.member : wanted;
  }

  /** After it a session has seen everything that was answered to any other. */
  #barrier(actor: Actor): Operation {
    const { dialect, leader, members } = this.#options;
    const isAtLeader = actor.member % members.length === leader;
    return dialect.syncSeesEverything || !isAtLeader ? SYNC : REFUSED_WRITE;
  }

  #isAsked(actor: Actor, operation: Operation): boolean {
    const { dialect, localSessions, members } = this.#options;
    // In ZooKeeper it depends on the rest of the multi whether -5 or -120 is the answer.
    const isSpecial = localSessions && !dialect.localEphemeralsAlike;
    if (isSpecial && isMalformed(operation)) return false;
    if (operation.op !== 'checkWatches' || dialect.checksOwnWatches) return true;
    // For a path without a slash ZooKeeper may answer -5 if any client has a recursive watch; and
    // it notices only after a while that a connection with watches is gone.
    if (!this.#model.place(operation.path).startsWith('/')) return false;
    return !this.#left.has(actor.member % members.length);
  }

  /** Sends what may be pipelined; waits where the leader must have applied everything before. */
  async #pipelined(actor: Actor, operations: readonly Operation[]): Promise<void> {
    const { dialect, settle } = this.#options;
    let burst: Operation[] = [];
    let mustSettle = false;
    const flush = async () => {
      if (burst.length > 0) await this.#burst(actor, burst);
      if (mustSettle) await settle();
      burst = [];
      mustSettle = false;
    };
    for (const operation of operations) {
      const isWrite = this.#model.isWrite(operation);
      if (isWrite && mustSettle) await flush();
      burst.push(operation);
      const leavesAcl = operation.op === 'setAcl' && !dialect.aclCountsAtOnce;
      const leavesOps = isMalformed(operation) && !dialect.malformedLeavesNothing;
      // Quotas are measured against the applied tree, whatever is in flight.
      mustSettle ||= leavesAcl || leavesOps || (isWrite && this.#hasQuotas);
    }
    await flush();
  }

  async #burst(actor: Actor, operations: readonly Operation[]): Promise<void> {
    const { client, state } = await this.#connected(actor);
    const replies = this.#send(client, state, operations);
    for (const operation of operations) this.#model.execute(state, operation);
    try {
      await within('all replies', REPLIES_DEADLINE_MS, Promise.all(replies));
    } catch (cause) {
      throw new Error(`session ${actor.number}: ${cause} after ${operations.length} requests`);
    }
    this.#compare(actor, client, state);
    state.seen = this.#model.lastTxn;
    if (state.connection !== 0) return;
    await within('the end of the connection', REPLIES_DEADLINE_MS, client.closed);
    this.#left.add(actor.member % this.#options.members.length);
    Object.assign(actor, newActor(actor.number, actor.member));
  }

  #send(
    client: WireClient,
    state: ModelSession,
    operations: readonly Operation[],
  ): Promise<Reply>[] {
    const seen = { zxid: client.lastZxid, txn: state.seen };
    const context = {
      place: (path: string) => this.#model.place(path),
      zxidBack: (writes: number) =>
        writes === 0 ? seen.zxid : this.#bindings.zxidOf(Math.max(0, seen.txn - writes)),
    };
    return client.pipeline(() =>
      operations.flatMap((operation) => {
        const { opcode, codec, value } = requestOf(operation, context);
        if (opcode !== OpCode.auth) return [client.request(opcode, codec, value)];
        client.sendRaw(frame(AUTH_XID, opcode, encode(codec, value)));
        return [];
      }),
    );
  }

  #compare(actor: Actor, client: WireClient, state: ModelSession): void {
    const expected = state.expected.slice(actor.compared);
    const actual = client.arrivals.slice(actor.arrived);
    actor.compared += expected.length;
    actor.arrived += actual.length;
    const { dialect, prefix } = this.#options;
    const session = `session ${actor.number}`;
    compareStreams({ expected, actual, bindings: this.#bindings, dialect, prefix, session });
  }

  async #connected(
    actor: Actor,
    readOnly = false,
  ): Promise<{ client: WireClient; state: ModelSession }> {
    const { members } = this.#options;
    const known = actor.state;
    const at = actor.member % members.length;
    const state = known ?? this.#model.openSession(at);
    actor.state = state;
    if (actor.client !== undefined) return { client: actor.client, state };
    const member = members[at];
    if (member === undefined) throw new Error('there are no members');
    const client = await connectTo(member, {
      timeoutMs: SESSION_TIMEOUT_MS,
      lastZxidSeen: actor.lastZxid === 0 ? this.#bindings.zxidOf(state.seen) : actor.lastZxid,
      readOnly: readOnly || this.#isReadOnly,
      ...(actor.session === undefined ? {} : { session: actor.session }),
    });
    const isReadOnly = client.session.readOnly === true;
    if (isReadOnly !== this.#isReadOnly) throw new Disagreement(`read-only is ${isReadOnly}`);
    if (known !== undefined) this.#model.connect(state, at);
    Object.assign(actor, { client, session: client.session, arrived: 0, watchesAgain: undefined });
    this.#bindings.bindSession(state.number, client.session.id);
    return { client, state };
  }

  async #vanish(actor: Actor): Promise<void> {
    const { client, state } = actor;
    if (client === undefined || state === undefined) return;
    actor.lastZxid = client.lastZxid;
    actor.client = undefined;
    actor.watchesAgain = this.#model.watchesAgain(state);
    this.#left.add(actor.member % this.#options.members.length);
    this.#model.disconnect(state);
    actor.compared = state.expected.length;
    await client.drop();
  }

  #actor(number: number): Actor {
    const known = this.#actors.find((actor) => actor.number === number);
    if (known !== undefined) return known;
    const actor = newActor(number, number);
    this.#actors.push(actor);
    return actor;
  }
}

function newActor(number: number, member: number): Actor {
  return {
    number,
    member,
    state: undefined,
    session: undefined,
    client: undefined,
    watchesAgain: undefined,
    lastZxid: 0,
    compared: 0,
    arrived: 0,
  };
}

/** Reads the whole tree at the end, including what no operation of the plan has read. */
function readsOf(path: string): Operation[] {
  if (SHARED.includes(path)) return [];
  const read = { path: `!${path}`, watch: false } as const;
  return [
    { op: 'getData', ...read },
    { op: 'getChildren2', ...read },
    { op: 'getAcl', ...read },
  ];
}

function frame(xid: number, type: number, body: Uint8Array): Uint8Array {
  const writer = new JuteWriter();
  writer.beginFrame();
  RequestHeader.write(writer, { xid, type });
  writer.raw(body);
  writer.endFrame();
  return writer.take();
}
