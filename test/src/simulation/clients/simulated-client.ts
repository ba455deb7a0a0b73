/**
 * One simulated client: a session over many connections, and what it does with them.
 *
 * It sends bursts and pings, resumes its session elsewhere after a loss, and opens a new one when
 * told that it has expired; at random it moves, closes its session, or vanishes: it falls silent
 * with its connection open, or drops it and stays away. It reports everything to the recorder in
 * the order in which it happens. `drain` ends the random acts and sends the last requests. Clients
 * calls it.
 */
import type { ByteStream, Timer } from '../../simulated.js';
import { PropertyBroken } from '../contract/checker.js';
import type { Invocation, Operation, Result, SessionSeen } from '../contract/history.js';
import type { Random } from '../random.js';
import { AbandonedConnection } from './abandoned-connection.js';
import type { ClientParts } from './client-parts.js';
import { HeldWatches } from './held-watches.js';
import { RandomActs } from './random-acts.js';
import { Route } from './route.js';
import { type Welcome, WireConnection } from './wire-connection.js';
import { Workload } from './workload.js';
import type { Proof } from './works.js';

interface Open {
  readonly number: number;
  readonly member: number;
  readonly askedAtMs: number;
  readonly wire: WireConnection;
  /** As whom it is known: a session that moves begins anew. */
  users?: readonly string[];
}

const DIAL_TIMEOUT_MS = 500;
/** The pause after an attempt that failed. */
const RETRY_MIN_MS = 5;
const RETRY_MAX_MS = 100;
/** A connection that a client has abandoned silently is closed after this time. */
const FORGOTTEN_MAX_MS = 3_000;
/** The pause between two bursts: far less load than members can process. */
const UNHURRIED_MS = 100;
const PING: Operation = { kind: 'ping' };

export class SimulatedClient {
  readonly #number: number;
  readonly #parts: ClientParts;
  readonly #random: Random;
  readonly #workload: Workload;
  readonly #randomActs: RandomActs;
  readonly #route: Route;
  readonly #held = new HeldWatches();
  #abandoned: AbandonedConnection | null = null;
  #session: Welcome | null = null;
  /** From replies alone, because an event may come before others of the same zxid. */
  #seenZxid = 0;
  /** Established or in its handshake. */
  #open: Open | null = null;
  #isLive = false;
  #isAway = false;
  #isClosing = false;
  #isDraining = false;
  #isUnhurried = false;
  #hasAskedLast = false;
  /** The member at which it still uses an old connection, if it does. */
  #leftAt = 0;
  #attempt = 0;
  #retry: Timer | null = null;
  #burst: Timer | null = null;
  #sentAtMs = 0;
  #heardAtMs = 0;
  requests = 0;

  constructor(number: number, random: Random, parts: ClientParts) {
    this.#number = number;
    this.#random = random;
    this.#parts = parts;
    this.#workload = new Workload(number, random.fork('work'), parts.options);
    this.#route = new Route(parts.members, random);
    this.#randomActs = new RandomActs(parts.timers, random, parts.options);
  }

  start(): void {
    this.#randomActs.planAll();
    this.#connectAfter(this.#wholeMs(0, RETRY_MAX_MS));
  }

  /** From now on it pauses between its bursts. */
  slowDown(): void {
    this.#isUnhurried = true;
  }

  drain(): void {
    this.#isDraining = true;
    if (this.#isAway) this.#comeBack();
    if (this.#isLive) this.#afterAnswers();
  }

  get isDrained(): boolean {
    return this.#isLive && this.#hasAskedLast && this.#open?.wire.outstanding === 0;
  }

  /** It still uses a connection that it has moved from, and nobody has closed it. */
  get hasLeftOneOpen(): boolean {
    return this.#abandoned?.isOpen === true;
  }

  #connectAfter(delayMs: number): void {
    this.#retry?.cancel();
    this.#retry = this.#parts.timers.after(delayMs, () => this.#connect());
  }

  #connect(): void {
    const attempt = ++this.#attempt;
    const seat = this.#route.next(this.hasLeftOneOpen ? this.#leftAt : null);
    this.#parts.transport.dial({ host: seat.host, port: seat.port }, DIAL_TIMEOUT_MS).then(
      (stream) => {
        if (attempt === this.#attempt && !this.#isAway) this.#shakeHands(stream, seat.id);
        else stream.destroy();
      },
      () => {
        if (attempt === this.#attempt && !this.#isAway) this.#connectLater();
      },
    );
  }

  /** Members process what arrives within a millisecond as one turn, so time is cut in that way. */
  #wholeMs(low: number, high: number): number {
    return Math.floor(this.#random.between(low, high));
  }

  #connectLater(): void {
    this.#connectAfter(this.#wholeMs(RETRY_MIN_MS, RETRY_MAX_MS));
  }

  #shakeHands(stream: ByteStream, member: number): void {
    const { timers, options, handshakeTimeoutMs } = this.#parts;
    const number = this.#parts.nextConnection();
    const wire = new WireConnection(stream, {
      onWelcome: (welcome) => this.#onWelcome(welcome),
      onReply: (invocation, result) => this.#onReply(invocation, result),
      onEvent: (event) => this.#onEvent(event),
      onWatchesSet: (zxid) => {
        this.#hear(zxid);
        this.#tell('reset', zxid);
        this.#afterAnswers();
      },
      onAuthenticated: () => {
        this.#heardAtMs = this.#parts.timers.nowMs();
        this.#afterAnswers();
      },
      onSessionClosed: (zxid) => {
        this.#hear(zxid);
        this.#endSession('closed');
      },
      onLost: () => this.#drop(),
      onNonsense: (what) => this.#onNonsense(what),
    });
    this.#open = { number, member, askedAtMs: timers.nowMs(), wire };
    const { timeoutMinMs, timeoutMaxMs } = options;
    const timeoutMs = this.#wholeMs(timeoutMinMs, timeoutMaxMs);
    wire.connect({ seenZxid: this.#seenZxid, timeoutMs, session: this.#session });
    timers.after(handshakeTimeoutMs, () => {
      if (this.#open?.number !== number || this.#isLive) return;
      this.#tell('abandoned');
      this.#drop();
    });
  }

  #onWelcome(welcome: Welcome): void {
    const open = this.#open;
    if (open === null) return;
    const before = this.#session;
    if (welcome.timeoutMs <= 0) {
      // Without a session nothing can expire: the member has no quorum for a new one.
      if (before === null) return this.#drop();
      return this.#endSession('expired');
    }
    if (before !== null && before.session !== welcome.session) {
      return this.#onNonsense(`session ${before.session} was resumed as ${welcome.session}`);
    }
    this.#session = welcome;
    this.#isLive = true;
    this.#heardAtMs = this.#parts.timers.nowMs();
    this.#tell(before === null ? 'opened' : 'resumed');
    if (before === null) this.#workload.onNewSession();
    this.#pingLater(open.number, Math.floor(welcome.timeoutMs / 3));
    if (this.#held.isEmpty) return this.#afterAnswers();
    open.wire.setWatches(this.#held.lists(), this.#seenZxid);
    if (!this.#isDraining) this.#sendBurst();
    open.wire.flush();
  }

  #onReply(invocation: Invocation, result: Result): void {
    this.#hear(result.zxid);
    this.#parts.recorder.reply(invocation, result);
    this.#held.onReply(invocation.operation, result);
    this.#workload.onReply(invocation.operation, result);
    if (this.#open?.wire.outstanding === 0) this.#afterAnswers();
  }

  #onEvent(event: { type: number; path: string; zxid: number }): void {
    const open = this.#open;
    if (open === null || this.#session === null) return;
    this.#heardAtMs = this.#parts.timers.nowMs();
    const { type, path, zxid } = event;
    const { session } = this.#session;
    this.#held.onEvent(type, path);
    const client = this.#number;
    this.#parts.recorder.watchEvent({ client, session, connection: open.number, type, path, zxid });
  }

  #hear(zxid: number): void {
    this.#heardAtMs = this.#parts.timers.nowMs();
    if (zxid > this.#seenZxid) this.#seenZxid = zxid;
  }

  /** Nothing is outstanding: the next burst follows, at once or a little later. */
  #afterAnswers(): void {
    if (!this.#isLive || this.#isAway || this.#isClosing || this.#burst !== null) return;
    if (this.#open?.wire.outstanding !== 0) return;
    if (this.#isDraining) return this.#askLast();
    const { options, timers } = this.#parts;
    const { thinkMaxMs } = options;
    const drawnMs = thinkMaxMs === 0 ? 0 : this.#random.below(thinkMaxMs + 1);
    const thinkMs = this.#isUnhurried ? drawnMs + UNHURRIED_MS : drawnMs;
    if (thinkMs === 0) return this.#act();
    this.#burst = timers.after(thinkMs, () => {
      this.#burst = null;
      if (this.#isDraining) this.#afterAnswers();
      else if (this.#isLive && !this.#isAway) this.#act();
    });
  }

  #askLast(): void {
    if (this.#hasAskedLast) return;
    this.#hasAskedLast = true;
    for (const operation of this.#workload.lastRequests()) this.#ask(operation);
    this.#open?.wire.flush();
  }

  /**
   * Performs a random act when one is due, with or without outstanding requests; otherwise sends a
   * burst.
   */
  #act(): void {
    const { due } = this.#randomActs;
    if (due === undefined || due === 'close' || this.#random.chance(0.5)) {
      this.#sendBurst();
      if (due === 'close') this.#closeSession();
      this.#open?.wire.flush();
      this.#waitInPatience();
    }
    if (due === undefined) return;
    this.#randomActs.plan(due);
    if (due === 'vanish') this.#vanish();
    if (due === 'move') this.#move();
  }

  /** Without any answer in this time it connects elsewhere; its requests here may still be done. */
  #waitInPatience(): void {
    const { timers, options } = this.#parts;
    if (options.patienceMs === 0 || this.#isClosing) return;
    const connection = this.#open?.number;
    const sentAtMs = this.#sentAtMs;
    timers.after(options.patienceMs, () => {
      if (this.#open?.number !== connection || this.#isAway || this.#isDraining) return;
      if (this.#sentAtMs === sentAtMs && this.#heardAtMs < sentAtMs) this.#move();
    });
  }

  #sendBurst(): void {
    const count = 1 + this.#random.below(this.#parts.options.outstandingMax);
    for (let sent = 0; sent < count; sent++) this.#ask(this.#workload.next());
  }

  #ask(operation: Operation | Proof): void {
    const open = this.#open;
    const session = this.#session?.session;
    if (open === null || session === undefined) return;
    this.#sentAtMs = this.#parts.timers.nowMs();
    if (operation.kind === 'prove') return prove(open, operation);
    this.requests += 1;
    const client = this.#number;
    const { number: connection, users } = open;
    const asked = { client, session, connection, users, operation };
    const invocation = this.#parts.recorder.invocation(asked);
    open.wire.ask(operation, invocation);
  }

  #pingLater(connection: number, periodMs: number): void {
    this.#parts.timers.after(periodMs, () => {
      if (this.#open?.number !== connection || !this.#isLive) return;
      if (!this.#isAway && !this.#maybePing(periodMs)) return;
      this.#pingLater(connection, periodMs);
    });
  }

  /**
   * Returns false if it has given the connection up: nothing came for two thirds of the timeout.
   */
  #maybePing(periodMs: number): boolean {
    const nowMs = this.#parts.timers.nowMs();
    if (this.#heardAtMs < this.#sentAtMs && nowMs - this.#heardAtMs > 2 * periodMs) {
      this.#drop();
      return false;
    }
    if (nowMs - this.#sentAtMs >= periodMs || this.#open?.wire.outstanding === 0) {
      this.#ask(PING);
      this.#open?.wire.flush();
    }
    return true;
  }

  #closeSession(): void {
    this.#isClosing = true;
    this.#open?.wire.closeSession();
  }

  /** Silent for less or more than its timeout, with its connection open or without one. */
  #vanish(): void {
    const timeoutMs = this.#session?.timeoutMs ?? 0;
    this.#isAway = true;
    if (this.#random.chance(0.5)) this.#drop();
    else this.#open?.wire.stopReading();
    const awayMs = this.#wholeMs(0.1 * timeoutMs, 1.9 * timeoutMs);
    this.#parts.timers.after(awayMs, () => this.#comeBack());
  }

  #comeBack(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    if (this.#open === null) return this.#connectAfter(0);
    this.#open.wire.resumeReading();
    this.#heardAtMs = this.#parts.timers.nowMs();
    this.#afterAnswers();
  }

  /** Moves to another member, with or without telling this one. */
  #move(): void {
    const open = this.#open;
    const dice = this.#random.next();
    if (dice < 0.4 || open === null) return this.#drop();
    this.#leave();
    if (dice < 0.7) open.wire.end();
    else if (this.#parts.options.asksOn && dice < 0.9 && !this.hasLeftOneOpen) this.#askOn(open);
    else {
      const laterMs = this.#wholeMs(0, FORGOTTEN_MAX_MS);
      this.#parts.timers.after(laterMs, () => open.wire.destroy());
    }
    this.#connectAfter(0);
  }

  #askOn({ wire, number: connection, member }: Open): void {
    this.#leftAt = member;
    const { timers, recorder } = this.#parts;
    const session = this.#session?.session ?? 0;
    const random = this.#random.fork(`left ${connection}`);
    const client = this.#number;
    const work = this.#workload;
    const parts = { timers, random, recorder, wire, client, session, connection, work };
    this.#abandoned = new AbandonedConnection(parts);
  }

  #endSession(change: 'expired' | 'closed'): void {
    this.#tell(change);
    this.#session = null;
    this.#held.clear();
    this.#drop();
  }

  #drop(): void {
    const wire = this.#open?.wire;
    this.#leave();
    wire?.destroy();
    if (!this.#isAway) this.#connectLater();
  }

  /** The connection is no longer this client's. */
  #leave(): void {
    const open = this.#open;
    if (open === null) return;
    for (const invocation of open.wire.leave()) this.#parts.recorder.unanswered(invocation);
    if (this.#isLive && this.#session !== null) this.#tell('disconnected');
    this.#open = null;
    this.#isLive = false;
    this.#isClosing = false;
    this.#hasAskedLast = false;
    this.#burst?.cancel();
    this.#burst = null;
  }

  #tell(change: SessionSeen['change'], zxid = this.#seenZxid): void {
    const { recorder } = this.#parts;
    const open = this.#open;
    const session = this.#session;
    if (open === null || session === null) return;
    recorder.session({
      client: this.#number,
      session: session.session,
      connection: open.number,
      change,
      member: change === 'disconnected' || change === 'abandoned' ? 0 : open.member,
      askedAtMs: open.askedAtMs,
      timeoutMs: session.timeoutMs,
      zxid,
    });
  }

  /** No checker sees bytes, so whatever a member must never send is reported here. */
  #onNonsense(what: string): void {
    const { recorder } = this.#parts;
    const where = `client ${this.#number}, connection ${this.#open?.number ?? 0}`;
    const order = recorder.order;
    recorder.broken ??= new PropertyBroken(
      'members speak the client protocol',
      `${where} at ${order}: ${what}`,
    );
    this.#drop();
  }
}

function prove(open: Open, { user }: Proof): void {
  const { users = [] } = open;
  if (!users.includes(user)) open.users = [...users, user];
  open.wire.prove(user);
}
