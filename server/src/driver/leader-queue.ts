/**
 * The queue of what members ask of their leader. Each turn works off as much as fits its share.
 *
 * A message may hold a thousand multis of thousands of operations each. Decided in one turn, they
 * would delay heartbeats until the followers elect another leader. Everything stays in its order,
 * syncs and attaches included. Only reports of touched sessions overtake the rest, because leases
 * run out meanwhile. Requests also wait while too much is in flight, as with a slow disk or a slow
 * quorum. Most of the time nothing waits. Owned by the driver for one term; `leader-service.ts`
 * does the work.
 */
import { Fifo, OpCode, type PeerId, type Touch, unreachable } from '@rookery/protocol';
import type { Timers } from '../net/timers.js';
import type { ForLeader } from '../pipeline/outbox.js';
import type { LeaderService, Share } from './leader-service.js';

export type LeaderMessage = ForLeader | Touch;

interface Waiting {
  readonly origin: PeerId;
  readonly message: ForLeader;
  /** The number of its requests that are decided. */
  done: number;
}

/** Requests between two readings of the clock. After a multi the clock is always read. */
const REQUESTS_PER_LOOK = 16;

export class LeaderQueue {
  readonly #leaderService: LeaderService;
  readonly #timers: Pick<Timers, 'nowMs'>;
  readonly #shareMs: number;
  readonly #waiting = new Fifo<Waiting>();
  /** When this turn's share ends, monotonic ms; NaN before the first reading of the clock. */
  #untilMs = Number.NaN;
  #untilLook = REQUESTS_PER_LOOK;
  #isOver = false;
  readonly #share: { from: number; readonly mayContinue: Share['mayContinue'] };

  constructor(service: LeaderService, timers: Pick<Timers, 'nowMs'>, shareMs: number) {
    this.#leaderService = service;
    this.#timers = timers;
    this.#shareMs = shareMs;
    this.#share = { from: 0, mayContinue: (opcode) => this.#mayContinue(opcode) };
  }

  /** Whether the next turn has something to do. Requests without headroom do not count. */
  get hasMore(): boolean {
    const head = this.#waiting.first;
    return head !== undefined && this.#hasRoomFor(head);
  }

  onMessage(origin: PeerId, message: LeaderMessage): void {
    if (message.kind === 'touch') return this.#leaderService.onTouch(origin, message.sessions);
    this.#waiting.push({ origin, message, done: 0 });
    this.work();
  }

  /** Ends the turn: the next one has a new share. */
  renew(): void {
    this.#untilMs = Number.NaN;
    this.#untilLook = REQUESTS_PER_LOOK;
    this.#isOver = false;
  }

  /** Works off what waits, until this turn's share is used up. */
  work(): void {
    while (!this.#isOver) {
      const head = this.#waiting.first;
      if (head === undefined || !this.#hasRoomFor(head)) return;
      if (this.#run(head)) this.#waiting.shift();
    }
  }

  /** Syncs and attaches need no headroom: nothing is prepared for them. */
  #hasRoomFor({ message }: Waiting): boolean {
    return message.kind !== 'requests' || this.#leaderService.hasRoom;
  }

  /** Returns whether the whole message is done. */
  #run(head: Waiting): boolean {
    const { origin, message } = head;
    switch (message.kind) {
      case 'requests':
        this.#share.from = head.done;
        head.done = this.#leaderService.onRequests(origin, message.batch.items, this.#share);
        return head.done >= message.batch.items.length;
      case 'sync':
        this.#leaderService.onSync(origin, message);
        return true;
      case 'attach':
        this.#leaderService.onAttach(origin, message);
        return true;
      default:
        return unreachable(message);
    }
  }

  #mayContinue(opcode: number): boolean {
    this.#untilLook -= 1;
    if (this.#untilLook <= 0 || opcode === OpCode.multi) this.#look();
    return !this.#isOver && this.#leaderService.hasRoom;
  }

  /** Reads the clock. The first reading of a turn begins its share. */
  #look(): void {
    this.#untilLook = REQUESTS_PER_LOOK;
    const nowMs = this.#timers.nowMs();
    if (Number.isNaN(this.#untilMs)) this.#untilMs = nowMs + this.#shareMs;
    this.#isOver = nowMs >= this.#untilMs;
  }
}
