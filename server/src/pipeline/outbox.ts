/**
 * What the clients of this member ask of the leader, until the driver takes it; and the numbers.
 *
 * Every write, sync and attach has a number by which its answer is recognised; every connection
 * that asks for a session of the ensemble has one by which the leader tells it from others of the
 * same session. Never sends anything. Dropped as a whole when the role ends.
 */
import type { Attach, ForwardedRequest, SyncRequest } from '@rookery/protocol';

/** As it waits for the driver, which cuts messages by its size. */
export interface OutgoingRequest extends ForwardedRequest {
  /** Of the body and of the identities; not sent. */
  readonly bytes: number;
}

/** Numbers of attachments begin anew behind it; none is alive for as long as that takes. */
const ATTACHMENT_MAX = 0x7fffffff;

export class Outbox {
  #next: number;
  #attachment = 0;
  #forwards: OutgoingRequest[] = [];
  #syncs: SyncRequest[] = [];
  #attaches: Attach[] = [];

  constructor(firstRequest: number) {
    this.#next = firstRequest;
  }

  nextRequest(): number {
    return this.#next++;
  }

  /** Unique in this process: what an earlier one has sent comes before what this one sends. */
  nextAttachment(): number {
    this.#attachment = (this.#attachment % ATTACHMENT_MAX) + 1;
    return this.#attachment;
  }

  forward(request: OutgoingRequest): void {
    this.#forwards.push(request);
  }

  sync(request: number): void {
    this.#syncs.push({ kind: 'sync', request });
  }

  attach(attach: Omit<Attach, 'kind'>): void {
    this.#attaches.push({ kind: 'attach', ...attach });
  }

  takeForwards(): readonly OutgoingRequest[] {
    const taken = this.#forwards;
    if (taken.length > 0) this.#forwards = [];
    return taken;
  }

  takeSyncs(): readonly SyncRequest[] {
    const taken = this.#syncs;
    if (taken.length > 0) this.#syncs = [];
    return taken;
  }

  takeAttaches(): readonly Attach[] {
    const taken = this.#attaches;
    if (taken.length > 0) this.#attaches = [];
    return taken;
  }

  clear(): void {
    this.#forwards = [];
    this.#syncs = [];
    this.#attaches = [];
  }
}
