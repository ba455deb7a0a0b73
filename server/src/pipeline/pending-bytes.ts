/**
 * Counts the pending bytes of each group of connections, such as an address, and marks groups that
 * have used up their share.
 *
 * With n groups that have bytes pending, each has a share of one part in n + 1 of the bound, which
 * leaves room for one more group. A group that holds much is limited first, however many
 * connections it uses. A full group stays full until it is down to half its share. Its last request
 * may exceed the share, so the shares alone do not bound the sum: Throttle, which owns this, does.
 */
import { assert } from '@rookery/protocol';

export class PendingBytes {
  readonly #bytesMax: number;
  /** Only groups with something pending. */
  readonly #byGroup = new Map<string, number>();
  readonly #full = new Set<string>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The bytes of all groups together. */
  get bytes(): number {
    return this.#bytes;
  }

  isFull(group: string): boolean {
    return this.#full.size > 0 && this.#full.has(group);
  }

  add(group: string, bytes: number): void {
    if (bytes === 0) return;
    const held = (this.#byGroup.get(group) ?? 0) + bytes;
    this.#bytes += bytes;
    this.#byGroup.set(group, held);
    if (held >= this.#share) this.#full.add(group);
  }

  /** Returns true if the group was full and no longer is. */
  subtract(group: string, bytes: number): boolean {
    if (bytes === 0) return false;
    const held = (this.#byGroup.get(group) ?? 0) - bytes;
    assert(held >= 0, () => `${held} bytes of ${group} are pending`);
    this.#bytes -= bytes;
    if (held === 0) this.#byGroup.delete(group);
    else this.#byGroup.set(group, held);
    if (!this.isFull(group) || held * 2 > this.#share) return false;
    return this.#full.delete(group);
  }

  get #share(): number {
    return this.#bytesMax / (this.#byGroup.size + 1);
  }
}
