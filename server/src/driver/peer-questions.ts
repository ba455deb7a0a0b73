/**
 * Members ask each other what they tell operators: how they are, what happened, who is connected.
 * An operator's order to end a session reaches the leader as a question, too.
 *
 * A question and its answer are small texts of JSON on the link that two members have anyway, so
 * that nothing has to reach another port. Nobody decides anything by an answer. Both sides have
 * bounds: how many questions are asked and wait (question-bounds.ts) and for how long, how many of
 * a member are answered in a second, and the size of an answer. What is asked beyond the rate is
 * not answered, and its asker gives up after two seconds; in place of an answer that is too large
 * an empty one is sent. Owned by the driver, which passes messages on; asked by the admin port.
 */
import type { Ask, PeerId, Tell } from '@rookery/protocol';
import type { PeerPort } from '../net/peer-port.js';
import type { Timer, Timers } from '../net/timers.js';
import { ANSWERS_PER_SECOND, QuestionBounds } from './question-bounds.js';
import { type AnswerSteps, SlicedAnswers } from './sliced-answers.js';
import type { Turns } from './turns.js';

/** The bound of an answer, because messages of the replication wait behind it in the link. */
export const ANSWER_BYTES_MAX = 256 << 10;
const ANSWER_MS = 2_000;
const SECOND_MS = 1000;
/** For how long a question is held; well below the time for which its asker waits. */
export const HOLD_MS = 1000;
/** The questions of one member that are held at a time; one more is answered at once. */
const HELD_MAX = 8;

/** What can be answered now, although something more may come soon. */
export interface HeldAnswer {
  /** Calls `ready` once there is more, whenever that is; returns how to stop that. */
  onNews(ready: () => void): () => void;
  /** The answer as it is by now. */
  now(): string;
}

/** The answer as JSON; null for a question that is not understood. */
export type Answerer = (question: string) => string | HeldAnswer | AnswerSteps | null;

export type QuestionPort = Pick<PeerPort, 'sendTo' | 'reaches'>;

/** A question of somebody, whose name only tells askers apart. */
export interface Asked {
  readonly question: string;
  readonly asker: string;
}

interface Waiting extends Asked {
  readonly peer: PeerId;
  readonly resolve: (answer: string | null) => void;
  /** Ends the pause before the question is asked, and later the wait for its answer. */
  timer: Timer | null;
}

export class PeerQuestions {
  readonly #timers: Timers;
  readonly #port: () => QuestionPort;
  readonly #turns: Pick<Turns, 'run'>;
  readonly #bounds = new QuestionBounds();
  readonly #waiting = new Map<number, Waiting>();
  /** How each question that is held is let go, by the member that asked it. */
  readonly #held = new Map<PeerId, Set<() => void>>();
  /** How many questions of each member came in this second. */
  readonly #asked = new Map<PeerId, number>();
  readonly #sliced: SlicedAnswers;
  #secondMs = Number.NEGATIVE_INFINITY;
  #nextNumber = 1;
  #answerer: Answerer = () => null;

  constructor(timers: Timers, port: () => QuestionPort, turns: Pick<Turns, 'run'>) {
    this.#timers = timers;
    this.#port = port;
    this.#turns = turns;
    this.#sliced = new SlicedAnswers(timers, ({ peer, number }, text) => {
      this.#tell(peer, number, text);
    });
  }

  /** Sets who answers questions; before it is called, none is answered. */
  answerWith(answerer: Answerer): void {
    this.#answerer = answerer;
  }

  /**
   * Resolves with JSON, or null if the member is not reached, is too old, or is too busy, or if too
   * many questions of this asker, or of all together, wait already. A question beyond the rate is
   * asked in one of the next seconds.
   */
  ask(peer: PeerId, { question, asker }: Asked): Promise<string | null> {
    const isReached = this.#port().reaches(peer);
    if (!isReached || !this.#bounds.enter(peer, asker)) return Promise.resolve(null);
    const number = this.#nextNumber++;
    return new Promise((resolve) => {
      this.#waiting.set(number, { peer, asker, question, resolve, timer: null });
      this.#askWhenDue(number);
    });
  }

  onMessage(peer: PeerId, message: Ask | Tell): void {
    if (message.kind === 'ask') return this.#onAsk(peer, message);
    if (this.#waiting.get(message.number)?.peer !== peer) return;
    const { answer } = message;
    const isFit = answer.length > 0 && answer.length <= ANSWER_BYTES_MAX;
    this.#settle(message.number, isFit ? Buffer.from(answer).toString() : null);
  }

  /** A question to a member whose link is gone is not answered any more, nor one of that member. */
  onDisconnected(peer: PeerId): void {
    for (const [number, waiting] of [...this.#waiting]) {
      if (waiting.peer === peer) this.#settle(number, null);
    }
    for (const endHold of [...(this.#held.get(peer) ?? [])]) endHold();
  }

  /** Answers all who wait with null. */
  stop(): void {
    this.#sliced.clear();
    for (const number of [...this.#waiting.keys()]) this.#settle(number, null);
    for (const peer of [...this.#held.keys()]) this.onDisconnected(peer);
  }

  #askWhenDue(number: number): void {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    const { peer, asker, question } = waiting;
    const pauseMs = this.#bounds.pauseMs(peer, asker, this.#timers.nowMs());
    if (pauseMs > 0) {
      waiting.timer = this.#timers.after(pauseMs, () => this.#askWhenDue(number));
      return;
    }
    waiting.timer = this.#timers.after(ANSWER_MS, () => this.#settle(number, null));
    this.#send(peer, { kind: 'ask', number, question });
  }

  #onAsk(peer: PeerId, { number, question }: Ask): void {
    const nowMs = this.#timers.nowMs();
    if (nowMs - this.#secondMs >= SECOND_MS) {
      this.#secondMs = nowMs;
      this.#asked.clear();
    }
    const asked = (this.#asked.get(peer) ?? 0) + 1;
    this.#asked.set(peer, asked);
    if (asked > ANSWERS_PER_SECOND) return;
    const answer = this.#answerer(question);
    if (answer === null || typeof answer === 'string') return this.#tell(peer, number, answer);
    if ('next' in answer) {
      return this.#sliced.add({ peer, number, steps: answer, untilMs: nowMs + ANSWER_MS });
    }
    if ((this.#held.get(peer)?.size ?? 0) >= HELD_MAX) this.#tell(peer, number, answer.now());
    else this.#hold(peer, number, answer);
  }

  #hold(peer: PeerId, number: number, answer: HeldAnswer): void {
    const held = this.#held.get(peer) ?? new Set();
    this.#held.set(peer, held);
    const endHold = (): void => {
      held.delete(endHold);
      if (held.size === 0) this.#held.delete(peer);
      timer.cancel();
      stop();
    };
    const onReady = (): void => {
      if (!held.has(endHold)) return;
      endHold();
      this.#tell(peer, number, answer.now());
    };
    // News come in the middle of a turn, and often several of them.
    const stop = answer.onNews(() => this.#timers.defer(onReady));
    const timer = this.#timers.after(HOLD_MS, onReady);
    held.add(endHold);
  }

  #tell(peer: PeerId, number: number, text: string | null): void {
    const answer = Buffer.from(text ?? '');
    const fits = answer.length <= ANSWER_BYTES_MAX;
    this.#send(peer, { kind: 'tell', number, answer: fits ? answer : new Uint8Array(0) });
  }

  #send(peer: PeerId, message: Ask | Tell): void {
    this.#turns.run(() => this.#port().sendTo(peer, message));
  }

  #settle(number: number, answer: string | null): void {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    this.#waiting.delete(number);
    this.#bounds.leave(waiting.peer, waiting.asker);
    waiting.timer?.cancel();
    waiting.resolve(answer);
  }
}
