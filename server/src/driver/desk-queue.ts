/**
 * What members ask of their leader, in the order it came: each turn takes what fits its share.
 *
 * A message may hold a thousand multis, each of thousands of operations: decided all in one turn
 * they would keep the heartbeats waiting until the followers elect another leader. What is behind a
 * request that waits, a sync or an attach, waits too, so nothing overtakes anything but reports of
 * touched sessions, whose leases run meanwhile. Requests wait, too, while as much is in flight as
 * may be: of a slow disk, or of a slow quorum. Mostly all is done at once. Owned by the driver for
 * one term; the desk does the work.
 */
import {
  type Attach,
  Fifo,
  OpCode,
  type PeerId,
  type Requests,
  type SyncRequest,
  type Touch,
  unreachable,
} from '@rookery/protocol';
import type { Timers } from '../net/timers.js';
import type { LeaderDesk, Share } from './leader-desk.js';

export type DeskMessage = Requests | SyncRequest | Attach | Touch;

interface Waiting {
  readonly origin: PeerId;
  readonly message: Exclude<DeskMessage, Touch>;
  /** Requests of it that were decided. */
  done: number;
}

/** Requests between two looks at the clock; a multi is worth a look of its own. */
const REQUESTS_PER_LOOK = 16;

export class DeskQueue {
  readonly #desk: LeaderDesk;
  readonly #timers: Pick<Timers, 'nowMs'>;
  readonly #shareMs: number;
  readonly #waiting = new Fifo<Waiting>();
  /** When the share of this turn ends; not known before the first look at the clock. */
  #untilMs = Number.NaN;
  #untilLook = REQUESTS_PER_LOOK;
  #isOver = false;
  readonly #share: { from: number; readonly mayGoOn: Share['mayGoOn'] };

  constructor(desk: LeaderDesk, timers: Pick<Timers, 'nowMs'>, shareMs: number) {
    this.#desk = desk;
    this.#timers = timers;
    this.#shareMs = shareMs;
    this.#share = { from: 0, mayGoOn: (opcode) => this.#mayGoOn(opcode) };
  }

  /** Something waits for the next turn. What has no room waits for a turn that makes some. */
  get hasMore(): boolean {
    const head = this.#waiting.first;
    return head !== undefined && this.#hasRoomFor(head);
  }

  onMessage(origin: PeerId, message: DeskMessage): void {
    if (message.kind === 'touch') return this.#desk.onTouch(origin, message.sessions);
    this.#waiting.push({ origin, message, done: 0 });
    this.work();
  }

  /** The turn is over: the next one has a share of its own. */
  renew(): void {
    this.#untilMs = Number.NaN;
    this.#untilLook = REQUESTS_PER_LOOK;
    this.#isOver = false;
  }

  /** As much of what waits as this turn's share has room for. */
  work(): void {
    while (!this.#isOver) {
      const head = this.#waiting.first;
      if (head === undefined || !this.#hasRoomFor(head)) return;
      if (this.#run(head)) this.#waiting.shift();
    }
  }

  /** Only requests are prepared. */
  #hasRoomFor({ message }: Waiting): boolean {
    return message.kind !== 'requests' || this.#desk.hasRoom;
  }

  /** Whether all of it is done. */
  #run(head: Waiting): boolean {
    const { origin, message } = head;
    switch (message.kind) {
      case 'requests':
        this.#share.from = head.done;
        head.done = this.#desk.onRequests(origin, message.items, this.#share);
        return head.done >= message.items.length;
      case 'sync':
        this.#desk.onSync(origin, message);
        return true;
      case 'attach':
        this.#desk.onAttach(origin, message);
        return true;
      default:
        return unreachable(message);
    }
  }

  #mayGoOn(opcode: number): boolean {
    this.#untilLook -= 1;
    if (this.#untilLook <= 0 || opcode === OpCode.multi) this.#look();
    return !this.#isOver && this.#desk.hasRoom;
  }

  /** The first look of a turn begins its share. */
  #look(): void {
    this.#untilLook = REQUESTS_PER_LOOK;
    const nowMs = this.#timers.nowMs();
    if (Number.isNaN(this.#untilMs)) this.#untilMs = nowMs + this.#shareMs;
    this.#isOver = nowMs >= this.#untilMs;
  }
}
