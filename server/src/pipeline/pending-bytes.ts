/**
 * The bytes that a member's clients have pending, by the groups to which connections belong, such
 * as addresses, and which groups have used up their share.
 *
 * With n groups that have something pending, the share of each is one part in n + 1 of the bound,
 * so there is room for one more. So the group that holds most gives way, whether its connections
 * are many or come again and again. A group that is full stays so until it has fallen to half of
 * its share. The last request of a group may go beyond its share, so that shares alone do not bound
 * the sum: see Throttle, which owns it.
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

  /** Returns true if the group was full, and is so no longer. */
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
