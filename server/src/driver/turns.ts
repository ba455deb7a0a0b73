/**
 * Divides a member's work into turns. What one iteration of the event loop brings is one turn, with
 * one time and one end, at which sockets are flushed. What the two ports report is handled in it,
 * but for the questions of operators that members pass on.
 *
 * Owns the time of a turn and the ticks, at which a member does what depends on time alone. After
 * the process has been suspended for more than two ticks, the first turn has a tick before it
 * accepts input; a turn in which it was suspended before its end has one before that end. So its
 * answers are dropped if the lease of its role has run out meanwhile, unless they were sent before.
 * A suspension during the end of a turn (`onEnd`) is not noticed in that turn. An error in a turn
 * is reported once and ends the member.
 *
 * The monotonic clock of a virtual machine may stand still while the machine is suspended. The wall
 * clock mostly goes on, so both are read when a turn begins and before it ends: if they have moved
 * apart, `onJump` takes the place of the tick. A step of the wall clock looks the same.
 */
import type { Ask, JuteReader, PeerId, PeerMessage, Tell } from '@rookery/protocol';
import type { ClientConnection, ClientHandler } from '../net/client-connection.js';
import type { PeerHandler } from '../net/peer-port.js';
import type { Timers } from '../net/timers.js';
import type { Pipeline } from '../pipeline/pipeline.js';

/** Runs actions in turns. */
export interface TurnRunner {
  /** Runs `action` in the open turn, or in one of its own. */
  run(action: () => void): void;
}

/** What a turn does: the driver. */
interface TurnHandler {
  onTick(nowMs: number): void;
  /** A tick after which no lease from before counts: the clocks have moved apart by `byMs`. */
  onJump(nowMs: number, byMs: number): void;
  /**
   * The turn has all its input: decide on and deliver what waits, send requests to the leader,
   * propose and flush.
   */
  onEnd(): void;
  /** Called before each tick of the timer: it came `ms` after it was due. */
  onLate(ms: number): void;
  onError(error: unknown): void;
}

/**
 * The part of the time between two ticks by which the clocks may drift apart unnoticed. It is
 * twenty times what NTP corrects without a step.
 */
const DRIFT = 0.01;

export class Turns implements TurnRunner {
  readonly #timers: Timers;
  readonly #tickMs: number;
  readonly #handler: TurnHandler;
  #nowMs: number;
  #tickedAtMs = Number.NEGATIVE_INFINITY;
  /** How far the wall clock is expected to be ahead of the monotonic one, in ms. */
  #wallAheadMs: number;
  #open = false;
  /** No turn begins any more. */
  #isStopped = false;
  #wasSuspended = false;
  /** Made once, because there are tens of thousands of turns a second. */
  readonly #endLater = (): void => this.#end();

  constructor(timers: Timers, tickMs: number, handler: TurnHandler) {
    this.#timers = timers;
    this.#tickMs = tickMs;
    this.#handler = handler;
    this.#nowMs = timers.nowMs();
    this.#wallAheadMs = timers.wallMs() - this.#nowMs;
  }

  /**
   * The time of whatever the pipeline decides or records in this turn, monotonic ms. The core gets
   * it with each tick.
   */
  get nowMs(): number {
    return this.#nowMs;
  }

  /**
   * Why a role that ends now must drop the answers of this turn; null if it need not. This is not
   * null only in a tick that runs because the process was suspended in the middle of the turn.
   */
  get dropReason(): string | null {
    return this.#wasSuspended ? 'this member was suspended or busy' : null;
  }

  start(): void {
    this.run(() => undefined);
    this.#scheduleTick();
  }

  /** Ends all turns for good. */
  stop(): void {
    this.#isStopped = true;
  }

  run(action: () => void): void {
    if (this.#isStopped) return;
    try {
      this.enter();
      action();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The same as `run` without a closure, for actions on the hot path. */
  call<A, B>(action: (first: A, second: B) => void, first: A, second: B): void {
    if (this.#isStopped) return;
    try {
      this.enter();
      action(first, second);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Begins a turn if none is open; returns its time in ms. */
  enter(): number {
    if (this.#open) return this.#nowMs;
    this.#open = true;
    this.#nowMs = this.#timers.nowMs();
    const jumpMs = this.#jumpMs;
    if (Math.abs(jumpMs) > 2 * this.#tickMs) this.#jump(jumpMs);
    else if (this.#nowMs - this.#tickedAtMs > 2 * this.#tickMs) this.#tick();
    this.#timers.defer(this.#endLater);
    return this.#nowMs;
  }

  #end(): void {
    if (this.#isStopped) return;
    this.#open = false;
    try {
      this.#tickIfLate();
      this.#handler.onEnd();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#isStopped = true;
    this.#handler.onError(error);
  }

  /** Ticks before the end of a turn in which the process was suspended. */
  #tickIfLate(): void {
    const beganAtMs = this.#nowMs;
    this.#nowMs = this.#timers.nowMs();
    const jumpMs = this.#jumpMs;
    this.#wasSuspended = true;
    if (Math.abs(jumpMs) > 2 * this.#tickMs) this.#jump(jumpMs);
    else if (this.#nowMs - beganAtMs > 2 * this.#tickMs) this.#tick();
    else this.#nowMs = beganAtMs;
    this.#wasSuspended = false;
  }

  /** How far the clocks have moved apart since the last tick, in ms. */
  get #jumpMs(): number {
    return this.#timers.wallMs() - this.#nowMs - this.#wallAheadMs;
  }

  #jump(byMs: number): void {
    this.#wallAheadMs += byMs;
    this.#tickedAtMs = this.#nowMs;
    this.#handler.onJump(this.#nowMs, byMs);
  }

  #tick(): void {
    const driftMs = DRIFT * this.#tickMs;
    this.#wallAheadMs += Math.min(driftMs, Math.max(-driftMs, this.#jumpMs));
    this.#tickedAtMs = this.#nowMs;
    this.#handler.onTick(this.#nowMs);
  }

  #scheduleTick(): void {
    const dueMs = this.#timers.nowMs() + this.#tickMs;
    this.#timers.after(this.#tickMs, () => {
      if (this.#isStopped) return;
      this.#handler.onLate(Math.max(0, this.#timers.nowMs() - dueMs));
      this.run(() => {
        if (this.#nowMs > this.#tickedAtMs) this.#tick();
      });
      this.#scheduleTick();
    });
  }
}

/** Hands what clients send to the pipeline, which writes its replies to their connections. */
export function clientsInTurns(turns: Turns, pipeline: Pipeline): ClientHandler {
  const onFrame = (connection: ClientConnection, frame: JuteReader): void => {
    pipeline.onFrame(connection.id, frame, turns.nowMs);
  };
  return {
    onOpen(connection) {
      turns.run(() => pipeline.onOpen(connection.id, connection, turns.nowMs));
    },
    onFrame(connection, frame) {
      turns.call(onFrame, connection, frame);
    },
    onRoom(connection) {
      turns.run(() => pipeline.onRoom(connection.id, turns.nowMs));
    },
    onClosed(connection) {
      turns.run(() => pipeline.onClosed(connection.id));
    },
  };
}

/** Operators' questions and their answers need no turn, all other messages do. */
export type MessageInTurn = Exclude<PeerMessage, Ask | Tell>;

interface QuestionHandler {
  onMessage(peer: PeerId, message: Ask | Tell): void;
  onDisconnected(peer: PeerId): void;
}

interface MessageHandler extends Omit<PeerHandler, 'onMessage'> {
  onMessage(peer: PeerId, link: number, message: MessageInTurn): void;
}

/** Hands what members send to those who handle it. */
export function peersInTurns(
  turns: Turns,
  questions: QuestionHandler,
  messages: MessageHandler,
): PeerHandler {
  return {
    onConnected: (...at) => turns.run(() => messages.onConnected(...at)),
    onMessage: (peer, link, message) => {
      if (message.kind === 'ask' || message.kind === 'tell') {
        return questions.onMessage(peer, message);
      }
      turns.run(() => messages.onMessage(peer, link, message));
    },
    onDisconnected: (...at) => {
      questions.onDisconnected(at[0]);
      turns.run(() => messages.onDisconnected(...at));
    },
  };
}
