/**
 * The requests of this member's clients to the leader, until the driver takes them; and the numbers
 * of requests.
 *
 * Every write, sync and attach has a number by which its answer is recognised. Every connection
 * that requests a session of the ensemble has a number by which the leader distinguishes it from
 * others of the same session. It never sends anything. It is discarded as a whole when the role
 * ends.
 */
import type { Attach, ForwardedRequest, SyncRequest } from '@rookery/protocol';

/** A request that waits for the driver, which divides messages by size. */
export interface OutgoingRequest extends ForwardedRequest {
  /** The size of the body and the identities; it is not sent. */
  readonly bytes: number;
}

/** After this number, attachments start again from 1; no attachment lives as long as that takes. */
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

  /** Unique in this process. What an earlier attachment has sent precedes what this one sends. */
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
