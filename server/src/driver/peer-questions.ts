/**
 * Members ask each other what they tell operators: how they are, what happened, who is connected.
 *
 * A question and its answer are small texts of JSON on the link that two members have anyway, so
 * that nothing has to reach another port. Nobody decides anything by an answer. Both sides have
 * bounds: how many questions wait and for how long, how many of a member are answered in a second,
 * and the size of an answer; whatever is beyond them is not answered. An answer that takes long is
 * made in slices, one in each turn for all of them together, so that it delays nobody. Owned by the
 * driver, which passes messages on; asked by the admin port.
 */
import { ASKING_SINCE, type Ask, Fifo, type PeerId, type Tell } from '@rookery/protocol';
import type { PeerPort } from '../net/peer-port.js';
import type { Timer, Timers } from '../net/timers.js';
import type { Turns } from './turns.js';

/** The bound of an answer, because messages of the replication wait behind it in the link. */
export const ANSWER_BYTES_MAX = 256 << 10;
const ANSWER_MS = 2_000;
const WAITING_MAX = 64;
/** The questions of one member that are answered in a second. */
const ANSWERS_PER_SECOND = 20;
const SECOND_MS = 1000;
/** How long answers may hold the event loop at a time, in ms. */
const SLICE_MS = 2;
/** The answers that are being made; a further question is not answered. */
const MADE_MAX = 64;

/** The answer as JSON; null for a question that is not understood. */
type Answer = string | null;

/** An answer that takes long comes in steps, each of which takes far less than a slice. */
export type Answerer = (question: string) => Answer | Generator<undefined, Answer>;

interface InTheMaking {
  readonly peer: PeerId;
  readonly number: number;
  readonly steps: Generator<undefined, Answer>;
  /** When whoever asked does not wait any more. */
  readonly untilMs: number;
}

interface Waiting {
  readonly peer: PeerId;
  readonly resolve: (answer: string | null) => void;
  readonly timer: Timer;
}

export class PeerQuestions {
  readonly #timers: Timers;
  readonly #port: () => Pick<PeerPort, 'sendTo'>;
  readonly #turns: Pick<Turns, 'run'>;
  readonly #waiting = new Map<number, Waiting>();
  /** How many questions of each member came in this second. */
  readonly #asked = new Map<PeerId, number>();
  #secondMs = Number.NEGATIVE_INFINITY;
  #nextNumber = 1;
  #answerer: Answerer = () => null;
  readonly #made = new Fifo<InTheMaking>();
  #isSliceDue = false;

  constructor(timers: Timers, port: () => Pick<PeerPort, 'sendTo'>, turns: Pick<Turns, 'run'>) {
    this.#timers = timers;
    this.#port = port;
    this.#turns = turns;
  }

  /** Sets who answers questions; before it is called, none is answered. */
  answerWith(answerer: Answerer): void {
    this.#answerer = answerer;
  }

  /** Resolves with JSON, or null if the member is not reached, is too old, or is too busy. */
  ask(peer: PeerId, question: string): Promise<string | null> {
    if (this.#waiting.size >= WAITING_MAX) return Promise.resolve(null);
    const number = this.#nextNumber++;
    return new Promise((resolve) => {
      const timer = this.#timers.after(ANSWER_MS, () => this.#settle(number, null));
      this.#waiting.set(number, { peer, resolve, timer });
      this.#send(peer, { kind: 'ask', number, question });
    });
  }

  onMessage(peer: PeerId, message: Ask | Tell): void {
    if (message.kind === 'ask') return this.#onAsk(peer, message);
    if (this.#waiting.get(message.number)?.peer !== peer) return;
    const { answer } = message;
    const isFit = answer.length > 0 && answer.length <= ANSWER_BYTES_MAX;
    this.#settle(message.number, isFit ? Buffer.from(answer).toString() : null);
  }

  /** Answers all who wait with null, and nobody else any more. */
  stop(): void {
    while (this.#made.shift() !== undefined);
    for (const number of [...this.#waiting.keys()]) this.#settle(number, null);
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
    if (this.#made.length >= MADE_MAX) return;
    this.#made.push({ peer, number, steps: answer, untilMs: nowMs + ANSWER_MS });
    this.#sliceSoon();
  }

  #sliceSoon(): void {
    if (this.#isSliceDue || this.#made.length === 0) return;
    this.#isSliceDue = true;
    this.#timers.defer(() => {
      this.#isSliceDue = false;
      this.#slice();
      this.#sliceSoon();
    });
  }

  /** Goes on with the oldest answer, and with further ones while there is time. */
  #slice(): void {
    const endMs = this.#timers.nowMs() + SLICE_MS;
    do {
      const { first } = this.#made;
      if (first === undefined) return;
      const { peer, number, steps, untilMs } = first;
      const isLate = this.#timers.nowMs() >= untilMs;
      const { done, value } = isLate ? { done: true, value: null } : steps.next();
      if (done !== true) continue;
      this.#made.shift();
      if (!isLate) this.#tell(peer, number, value ?? null);
    } while (this.#timers.nowMs() < endMs);
  }

  #tell(peer: PeerId, number: number, text: Answer): void {
    const answer = Buffer.from(text ?? '');
    const fits = answer.length <= ANSWER_BYTES_MAX;
    this.#send(peer, { kind: 'tell', number, answer: fits ? answer : new Uint8Array(0) });
  }

  #send(peer: PeerId, message: Ask | Tell): void {
    this.#turns.run(() => this.#port().sendTo(peer, message, ASKING_SINCE));
  }

  #settle(number: number, answer: string | null): void {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    this.#waiting.delete(number);
    waiting.timer.cancel();
    waiting.resolve(answer);
  }
}
