/**
 * Where all observations of a run come together: they get their order and their time here, and go
 * to the checkers, into the digest and, on request, into the trace.
 *
 * What a checker throws is kept in `broken` and never reaches the caller, which may be a member's
 * callback that would take it for a failure of its own; the run examines `broken` after each
 * advance. The first one counts, and no checker is notified after it. This is on the hot path of a
 * run: no text is built unless there is a trace.
 */
import { type Checker, PropertyBroken } from '../contract/checker.js';
import type * as Seen from '../contract/seen.js';
import * as describe from './describe.js';
import { RunningDigest } from './digest.js';

/** The input: everything except what the recorder adds. */
export type Unstamped<T extends { readonly order: number; readonly atMs: number }> = Omit<
  T,
  'order' | 'atMs'
>;

export interface RecorderSetup {
  readonly checkers: readonly Checker[];
  /** Receives one line of text for everything recorded. Slow: for replays. */
  readonly trace?: ((line: string) => void) | undefined;
}

/** The number of records of each kind. */
export interface RecordedCounts {
  invocations: number;
  replies: number;
  unanswered: number;
  watchEvents: number;
  overheard: number;
  sessions: number;
  steps: number;
  applied: number;
}

/** The beginning of an entry of the digest. */
const TAG = {
  invocation: 1,
  reply: 2,
  unanswered: 3,
  watchEvent: 4,
  session: 5,
  started: 6,
  gone: 7,
  diskStruck: 8,
  step: 9,
  applied: 10,
  reach: 11,
  end: 12,
  note: 13,
  overheard: 14,
  clockSet: 15,
  readOnly: 16,
} as const;

interface Listener<T> {
  readonly property: string;
  readonly tell: (seen: T) => void;
}

export class Recorder {
  /** The first contradiction that a checker found. */
  broken: PropertyBroken | null = null;
  readonly counts: RecordedCounts = {
    invocations: 0,
    replies: 0,
    unanswered: 0,
    watchEvents: 0,
    overheard: 0,
    sessions: 0,
    steps: 0,
    applied: 0,
  };
  readonly #digest = new RunningDigest();
  readonly #trace: ((line: string) => void) | null;
  readonly #listeners;
  #nowMs: () => number = () => 0;
  #order = 0;
  #isRetired = false;

  constructor({ checkers, trace }: RecorderSetup) {
    this.#trace = trace ?? null;
    this.#listeners = listenersOf(checkers);
  }

  /** No checker is told of anything from now on. */
  retire(): void {
    this.#isRetired = true;
  }

  /** The run's clock. The world sets it, once, before anything is recorded. */
  useClock(nowMs: () => number): void {
    this.#nowMs = nowMs;
  }

  /** The number of the last record. */
  get order(): number {
    return this.#order;
  }

  /** 16 hex digits over everything recorded so far: equal for equal runs. */
  digest(): string {
    return this.#digest.hex();
  }

  invocation(seen: Unstamped<Seen.Invocation>): Seen.Invocation {
    const { client, session, connection, users, operation } = seen;
    const { order, atMs } = this.#stamp(TAG.invocation);
    const full: Seen.Invocation = { order, atMs, client, session, connection, users, operation };
    this.counts.invocations += 1;
    const digest = this.#digest;
    digest.number(client);
    digest.number(session);
    digest.number(connection);
    digest.text(operation.kind);
    if ('path' in operation) digest.text(operation.path);
    if ('data' in operation) digest.text(operation.data);
    if ('acl' in operation) digest.text(operation.acl);
    for (const user of users ?? []) digest.text(user);
    if ('parts' in operation) digest.number(operation.parts.length);
    if ('reads' in operation) digest.number(operation.reads.length);
    if ('type' in operation) digest.text(operation.type);
    this.#tell(this.#listeners.invocation, full);
    this.#trace?.(describe.invocation(full));
    return full;
  }

  reply(invocation: Seen.Invocation, result: Seen.Result): void {
    const { order, atMs } = this.#stamp(TAG.reply);
    const full: Seen.Reply = { order, atMs, invocation, result };
    this.counts.replies += 1;
    const digest = this.#digest;
    digest.number(invocation.order);
    digest.number(result.error);
    digest.number(result.zxid);
    if (result.path !== null) digest.text(result.path);
    if (result.data !== null) digest.text(result.data);
    if (result.stat !== null) digest.number(result.stat.mzxid);
    if (result.children !== null) digest.number(result.children.length);
    for (const { error, data: shown } of result.reads ?? []) {
      digest.number(error);
      if (shown !== null) digest.text(shown);
    }
    this.#tell(this.#listeners.reply, full);
    this.#trace?.(describe.reply(full));
  }

  unanswered(invocation: Seen.Invocation): void {
    const { order, atMs } = this.#stamp(TAG.unanswered);
    const full: Seen.Unanswered = { order, atMs, invocation };
    this.counts.unanswered += 1;
    this.#digest.number(invocation.order);
    this.#tell(this.#listeners.unanswered, full);
    this.#trace?.(describe.unanswered(full));
  }

  watchEvent(seen: Unstamped<Seen.WatchEventSeen>): void {
    const { client, session, connection, type, path, zxid } = seen;
    const { order, atMs } = this.#stamp(TAG.watchEvent);
    const full: Seen.WatchEventSeen = {
      order,
      atMs,
      client,
      session,
      connection,
      type,
      path,
      zxid,
    };
    this.counts.watchEvents += 1;
    const digest = this.#digest;
    digest.number(client);
    digest.number(session);
    digest.number(connection);
    digest.number(type);
    digest.text(path);
    digest.number(zxid);
    this.#tell(this.#listeners.watchEvent, full);
    this.#trace?.(describe.watchEvent(full));
  }

  overheard(seen: Unstamped<Seen.Overheard>): void {
    const { client, session, connection, zxid } = seen;
    const { order, atMs } = this.#stamp(TAG.overheard);
    const full: Seen.Overheard = { order, atMs, client, session, connection, zxid };
    this.counts.overheard += 1;
    this.#digest.number(connection);
    this.#digest.number(zxid);
    this.#tell(this.#listeners.overheard, full);
    this.#trace?.(describe.overheard(full));
  }

  readOnly(seen: Unstamped<Seen.ReadOnlySeen>): void {
    const { client, connection, member, operation, result } = seen;
    const { order, atMs } = this.#stamp(TAG.readOnly);
    const full = { order, atMs, client, connection, member, operation, result };
    this.#digest.number(connection);
    this.#digest.text(operation.kind);
    this.#digest.number(result.error);
    this.#digest.number(result.zxid);
    this.#tell(this.#listeners.readOnly, full);
    this.#trace?.(describe.readOnly(full));
  }

  session(seen: Unstamped<Seen.SessionSeen>): void {
    const { client, session, connection, change, member, askedAtMs, timeoutMs, zxid } = seen;
    const { order, atMs } = this.#stamp(TAG.session);
    const full: Seen.SessionSeen = {
      order,
      atMs,
      client,
      session,
      connection,
      change,
      member,
      askedAtMs,
      timeoutMs,
      zxid,
    };
    this.counts.sessions += 1;
    const digest = this.#digest;
    digest.number(client);
    digest.number(session);
    digest.number(connection);
    digest.text(change);
    digest.number(member);
    digest.number(askedAtMs);
    digest.number(timeoutMs);
    digest.number(zxid);
    this.#tell(this.#listeners.session, full);
    this.#trace?.(describe.session(full));
  }

  started(seen: Unstamped<Seen.Started>): void {
    const { member, incarnation, ownMs, recovered } = seen;
    const { order, atMs } = this.#stamp(TAG.started);
    const full: Seen.Started = { order, atMs, member, incarnation, ownMs, recovered };
    this.#ofMember(full);
    this.#digest.number(recovered.last);
    this.#digest.number(recovered.currentEpoch);
    this.#tell(this.#listeners.started, full);
    this.#trace?.(describe.started(full));
  }

  gone(seen: Unstamped<Seen.Gone>): void {
    const { member, incarnation, ownMs, how } = seen;
    const { order, atMs } = this.#stamp(TAG.gone);
    const full: Seen.Gone = { order, atMs, member, incarnation, ownMs, how };
    this.#ofMember(full);
    this.#digest.text(how);
    this.#tell(this.#listeners.gone, full);
    this.#trace?.(describe.gone(full));
  }

  diskStruck(seen: Unstamped<Seen.DiskStruck>): void {
    const { member, incarnation, ownMs, how, keeps } = seen;
    const { order, atMs } = this.#stamp(TAG.diskStruck);
    const full: Seen.DiskStruck = { order, atMs, member, incarnation, ownMs, how, keeps };
    this.#ofMember(full);
    this.#digest.text(how);
    this.#tell(this.#listeners.diskStruck, full);
    this.#trace?.(describe.diskStruck(full));
  }

  step(seen: Unstamped<Seen.Step>): void {
    const { member, incarnation, ownMs, input, outputs } = seen;
    const { order, atMs } = this.#stamp(TAG.step);
    const full: Seen.Step = { order, atMs, member, incarnation, ownMs, input, outputs };
    this.counts.steps += 1;
    this.#ofMember(full);
    const digest = this.#digest;
    digest.text(input.kind);
    if (input.kind === 'message') {
      digest.number(input.peer);
      digest.number(input.link);
      digest.text(input.message.kind);
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output !== undefined) digest.text(output.kind);
    }
    this.#tell(this.#listeners.step, full);
    this.#trace?.(describe.step(full));
  }

  applied(seen: Unstamped<Seen.Applied>): void {
    const { member, incarnation, ownMs, zxid, txn, state } = seen;
    const { order, atMs } = this.#stamp(TAG.applied);
    const full: Seen.Applied = { order, atMs, member, incarnation, ownMs, zxid, txn, state };
    this.counts.applied += 1;
    this.#ofMember(full);
    this.#digest.number(zxid);
    this.#digest.number(txn.time);
    this.#tell(this.#listeners.applied, full);
    this.#trace?.(describe.applied(full));
  }

  reach(seen: Unstamped<Seen.Reach>): void {
    const { member, reaches, late } = seen;
    const { order, atMs } = this.#stamp(TAG.reach);
    const full: Seen.Reach = { order, atMs, member, reaches, late };
    this.#digest.number(member);
    for (const other of reaches) this.#digest.number(other);
    if (late !== undefined) this.#digest.number(late.heardMs);
    this.#tell(this.#listeners.reach, full);
    this.#trace?.(describe.reach(full));
  }

  clockSet(seen: Unstamped<Seen.ClockSet>): void {
    const { member, errorMs } = seen;
    const { order, atMs } = this.#stamp(TAG.clockSet);
    const full: Seen.ClockSet = { order, atMs, member, errorMs };
    this.#digest.number(member);
    this.#digest.number(errorMs);
    this.#tell(this.#listeners.clockSet, full);
    this.#trace?.(describe.clockSet(full));
  }

  end(seen: Unstamped<Seen.End>): void {
    const { order, atMs } = this.#stamp(TAG.end);
    const full: Seen.End = { order, atMs, members: seen.members };
    for (const { member, applied, state } of full.members) {
      this.#digest.number(member);
      this.#digest.number(applied);
      this.#digest.text(state.digest());
    }
    this.#tell(this.#listeners.end, full);
    this.#trace?.(describe.end(full));
  }

  /**
   * What the run itself does, such as a fault: it is in the digest and the trace, and no checker is
   * notified.
   */
  note(text: string): void {
    const { order, atMs } = this.#stamp(TAG.note);
    this.#digest.text(text);
    this.#trace?.(describe.note({ order, atMs, text }));
  }

  #stamp(tag: number): { readonly order: number; readonly atMs: number } {
    this.#order += 1;
    const atMs = this.#nowMs();
    this.#digest.number(tag);
    this.#digest.number(atMs);
    return { order: this.#order, atMs };
  }

  #ofMember({ member, incarnation, ownMs }: Seen.OfMember): void {
    this.#digest.number(member);
    this.#digest.number(incarnation);
    this.#digest.number(ownMs);
  }

  #tell<T>(listeners: readonly Listener<T>[], seen: T): void {
    if (this.#isRetired) return;
    for (let at = 0; at < listeners.length && this.broken === null; at++) {
      const listener = listeners[at];
      if (listener === undefined) continue;
      try {
        listener.tell(seen);
      } catch (error) {
        this.broken = brokenBy(listener.property, error);
        this.#trace?.(describe.broken(this.broken));
      }
    }
  }
}

function brokenBy(property: string, error: unknown): PropertyBroken {
  if (error instanceof PropertyBroken) return error;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new PropertyBroken(property, `its checker failed: ${text}`);
}

function listenersOf(checkers: readonly Checker[]) {
  return {
    invocation: those<Seen.Invocation>(checkers, (checker) => checker.onInvocation?.bind(checker)),
    reply: those<Seen.Reply>(checkers, (checker) => checker.onReply?.bind(checker)),
    unanswered: those<Seen.Unanswered>(checkers, (checker) => checker.onUnanswered?.bind(checker)),
    watchEvent: those<Seen.WatchEventSeen>(checkers, (checker) =>
      checker.onWatchEvent?.bind(checker),
    ),
    overheard: those<Seen.Overheard>(checkers, (checker) => checker.onOverheard?.bind(checker)),
    readOnly: those<Seen.ReadOnlySeen>(checkers, (checker) => checker.onReadOnly?.bind(checker)),
    session: those<Seen.SessionSeen>(checkers, (checker) => checker.onSession?.bind(checker)),
    started: those<Seen.Started>(checkers, (checker) => checker.onStarted?.bind(checker)),
    gone: those<Seen.Gone>(checkers, (checker) => checker.onGone?.bind(checker)),
    diskStruck: those<Seen.DiskStruck>(checkers, (checker) => checker.onDiskStruck?.bind(checker)),
    step: those<Seen.Step>(checkers, (checker) => checker.onStep?.bind(checker)),
    applied: those<Seen.Applied>(checkers, (checker) => checker.onApplied?.bind(checker)),
    reach: those<Seen.Reach>(checkers, (checker) => checker.onReach?.bind(checker)),
    clockSet: those<Seen.ClockSet>(checkers, (checker) => checker.onClockSet?.bind(checker)),
    end: those<Seen.End>(checkers, (checker) => checker.onEnd?.bind(checker)),
  };
}

function those<T>(
  checkers: readonly Checker[],
  methodOf: (checker: Checker) => ((seen: T) => void) | undefined,
): readonly Listener<T>[] {
  return checkers.flatMap((checker) => {
    const tell = methodOf(checker);
    return tell === undefined ? [] : [{ property: checker.property, tell }];
  });
}
