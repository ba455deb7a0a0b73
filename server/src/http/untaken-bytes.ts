/**
 * The bytes of answers that clients have not taken yet, with a bound over all connections of a
 * port.
 *
 * When a further answer is to be sent and the bound is reached, connections are closed until there
 * is room: of the address whose connections hold most, the one that holds most. So whoever asks
 * much and takes nothing loses by it, and nobody else does. `onClosed` is told of each. Used by
 * HttpPort, which has at most one answer of each connection at a time.
 */
import { assert } from '@rookery/protocol';
import { addressGroup } from '../security/address-group.js';

/** There may be one answer more than this. */
export const UNTAKEN_BYTES_MAX = 32 << 20;

interface Holder {
  readonly remoteAddress?: string | undefined;
  destroy(): void;
}

export class UntakenBytes {
  readonly #held = new Map<Holder, number>();
  readonly #onClosed: (address: string, bytes: number) => void;
  #bytes = 0;

  constructor(onClosed: (address: string, bytes: number) => void) {
    this.#onClosed = onClosed;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts what is about to be sent. */
  hold(holder: Holder, bytes: number): void {
    while (this.#bytes >= UNTAKEN_BYTES_MAX) this.#dropOne();
    this.#set(holder, (this.#held.get(holder) ?? 0) + bytes);
  }

  /** The client has taken these, or is gone. */
  release(holder: Holder, bytes: number): void {
    const held = this.#held.get(holder);
    if (held !== undefined) this.#set(holder, held - bytes);
  }

  #dropOne(): void {
    const groups = new Map<string, number>();
    const groupOf = ({ remoteAddress = '' }: Holder) => addressGroup(remoteAddress);
    for (const [holder, bytes] of this.#held) {
      groups.set(groupOf(holder), (groups.get(groupOf(holder)) ?? 0) + bytes);
    }
    const [group] = largestOf(groups);
    const [dropped, bytes] = largestOf(
      new Map([...this.#held].filter(([holder]) => groupOf(holder) === group)),
    );
    this.#set(dropped, 0);
    dropped.destroy();
    this.#onClosed(dropped.remoteAddress ?? '', bytes);
  }

  #set(holder: Holder, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(holder) ?? 0);
    if (bytes > 0) this.#held.set(holder, bytes);
    else this.#held.delete(holder);
  }
}

function largestOf<Key>(sizes: ReadonlyMap<Key, number>): readonly [Key, number] {
  const [first, ...rest] = sizes;
  assert(first !== undefined, 'whatever holds bytes is counted');
  return rest.reduce((largest, one) => (one[1] > largest[1] ? one : largest), first);
}
