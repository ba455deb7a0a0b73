/**
 * What the clients of this member ask of the leader, until the driver takes it; and the numbers.
 *
 * Every write, sync and attach has a number by which its answer is recognised. Never sends
 * anything. Dropped as a whole when the role ends.
 */
import type { Attach, ForwardedRequest, SyncRequest } from '@rookery/protocol';

export class Outbox {
  #next: number;
  #forwards: ForwardedRequest[] = [];
  #syncs: SyncRequest[] = [];
  #attaches: Attach[] = [];

  constructor(firstRequest: number) {
    this.#next = firstRequest;
  }

  nextRequest(): number {
    return this.#next++;
  }

  forward(request: ForwardedRequest): void {
    this.#forwards.push(request);
  }

  sync(request: number): void {
    this.#syncs.push({ kind: 'sync', request });
  }

  attach(attach: Omit<Attach, 'kind'>): void {
    this.#attaches.push({ kind: 'attach', ...attach });
  }

  takeForwards(): readonly ForwardedRequest[] {
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
