/**
 * Carries the questions of operators from member to member: about status, events and connected
 * clients. An operator's order to end a session reaches the leader as a question, too.
 *
 * A question and its answer are small texts of JSON on the link that two members have anyway, so
 * that nothing has to reach another port. Nothing is decided by an answer. Both sides have bounds:
 * on the questions that are asked, that wait and for how long, on those of a member that are
 * answered in a second, and on the size of an answer. A question beyond the rate is not answered,
 * and its asker gives up after two seconds; in place of an answer that is too large
 * an empty one is sent. Owned by the driver, which passes messages on; asked by the admin port.
 */
import { type Ask, assert, Fifo, type PeerId, type Tell } from '@rookery/protocol';
import type { PeerSender } from '../net/peer-port.js';
import type { Timer, Timers } from '../net/timers.js';
import type { TurnRunner } from './turns.js';

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
  readonly #port: PeerSender;
  readonly #turns: TurnRunner;
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

  constructor(timers: Timers, port: PeerSender, turns: TurnRunner) {
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
   * Resolves with JSON. Resolves with null if the member is not reached or is too busy, or if too
   * many questions of this asker, or of all together, wait already. A question beyond the rate is
   * asked in one of the next seconds.
   */
  ask(peer: PeerId, { question, asker }: Asked): Promise<string | null> {
    const isReached = this.#port.reaches(peer);
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
    this.#turns.run(() => this.#port.sendTo(peer, message));
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

const ASKED_PER_SECOND = 20;
const OF_ASKER_PER_SECOND = 15;
/** A second of the member that answers touches two seconds of the one that asks. */
const ANSWERS_PER_SECOND = 2 * ASKED_PER_SECOND;
/** The questions to one member that wait to be asked, or for their answers. */
const WAITING_MAX = 32;
const WAITING_OF_ASKER_MAX = 8;

interface Count {
  /** The questions of this second. */
  asked: number;
  waiting: number;
}

interface OfMember extends Count {
  secondMs: number;
  readonly askers: Map<string, Count>;
}

/**
 * How many questions this member asks each other one at a time and in a second.
 *
 * Each member has bounds of its own, so that a silent one takes no place from the others. Of these
 * bounds one asker has a part only, so that whoever asks without a pause leaves the others theirs.
 * A question beyond the rate waits for one of the next seconds, as long as there is a place to
 * wait. An asker that waits for nothing is forgotten when a question comes in a later second. Used
 * by PeerQuestions.
 */
class QuestionBounds {
  readonly #members = new Map<PeerId, OfMember>();

  /** Takes a place until `leave`; false if none is free, so that the question must not be asked. */
  enter(peer: PeerId, asker: string): boolean {
    const member = this.#members.get(peer) ?? newMember();
    const own = member.askers.get(asker) ?? { asked: 0, waiting: 0 };
    if (member.waiting >= WAITING_MAX || own.waiting >= WAITING_OF_ASKER_MAX) return false;
    this.#members.set(peer, member);
    member.askers.set(asker, own);
    member.waiting += 1;
    own.waiting += 1;
    return true;
  }

  /**
   * Counts a question that has a place as asked now, and returns 0, or how many ms are left of a
   * second in which no more of them are asked.
   */
  pauseMs(peer: PeerId, asker: string, nowMs: number): number {
    const { member, own } = this.#entered(peer, asker);
    if (nowMs - member.secondMs >= SECOND_MS) startSecond(member, nowMs);
    if (member.asked >= ASKED_PER_SECOND || own.asked >= OF_ASKER_PER_SECOND) {
      return member.secondMs + SECOND_MS - nowMs;
    }
    member.asked += 1;
    own.asked += 1;
    return 0;
  }

  /** The question was answered, or nobody waits for its answer any more. */
  leave(peer: PeerId, asker: string): void {
    const { member, own } = this.#entered(peer, asker);
    member.waiting -= 1;
    own.waiting -= 1;
  }

  #entered(peer: PeerId, asker: string): { readonly member: OfMember; readonly own: Count } {
    const member = this.#members.get(peer);
    const own = member?.askers.get(asker);
    assert(member !== undefined && own !== undefined, () => `${asker} has asked member ${peer}`);
    return { member, own };
  }
}

function newMember(): OfMember {
  return { asked: 0, waiting: 0, secondMs: Number.NEGATIVE_INFINITY, askers: new Map() };
}

function startSecond(member: OfMember, nowMs: number): void {
  member.secondMs = nowMs;
  member.asked = 0;
  for (const [asker, count] of member.askers) {
    count.asked = 0;
    if (count.waiting === 0) member.askers.delete(asker);
  }
}

/** An answer in steps, each of which takes far less than a slice; null for none. */
type AnswerSteps = Generator<undefined, string | null>;

interface SlicedAnswer {
  readonly peer: PeerId;
  readonly number: number;
  readonly steps: AnswerSteps;
  /** When whoever asked does not wait any more. */
  readonly untilMs: number;
}

/** How long answers may hold the event loop at a time, in ms. */
const SLICE_MS = 2;
/** The answers to one member that are being made or wait for it. */
const ANSWERS_MAX = 16;

/**
 * Answers to members' questions that take long: they are made in slices, one in each turn for all
 * of them together, so that they delay nobody.
 *
 * Members are served round-robin, one answer of each; those of one member are made in the order of
 * its questions. Their number is bounded for each member, and one for which nobody waits any more
 * is dropped. Owned by PeerQuestions.
 */
class SlicedAnswers {
  readonly #timers: Timers;
  readonly #onAnswer: (answer: SlicedAnswer, text: string | null) => void;
  /** In the order in which members are served; the first one's oldest answer is made. */
  readonly #answers = new Map<PeerId, Fifo<SlicedAnswer>>();
  #isSliceDue = false;

  constructor(timers: Timers, onAnswer: (answer: SlicedAnswer, text: string | null) => void) {
    this.#timers = timers;
    this.#onAnswer = onAnswer;
  }

  /** Ignores the answer if too many are being made for that member. */
  add(answer: SlicedAnswer): void {
    const { peer } = answer;
    const ofPeer = this.#answers.get(peer) ?? new Fifo();
    if (ofPeer.length >= ANSWERS_MAX) return;
    ofPeer.push(answer);
    this.#answers.set(peer, ofPeer);
    this.#sliceSoon();
  }

  clear(): void {
    this.#answers.clear();
  }

  #sliceSoon(): void {
    if (this.#isSliceDue || this.#answers.size === 0) return;
    this.#isSliceDue = true;
    this.#timers.defer(() => {
      this.#isSliceDue = false;
      this.#slice();
      this.#sliceSoon();
    });
  }

  /** Goes on with the answer that is begun, and with further ones while there is time. */
  #slice(): void {
    const endMs = this.#timers.nowMs() + SLICE_MS;
    do {
      const [ofPeer] = this.#answers.values();
      const first = ofPeer?.first;
      if (ofPeer === undefined || first === undefined) return;
      const isLate = this.#timers.nowMs() >= first.untilMs;
      const { done, value } = isLate ? { done: true, value: null } : first.steps.next();
      if (done !== true) continue;
      ofPeer.shift();
      this.#answers.delete(first.peer);
      if (ofPeer.length > 0) this.#answers.set(first.peer, ofPeer);
      if (!isLate) this.#onAnswer(first, value ?? null);
    } while (this.#timers.nowMs() < endMs);
  }
}
