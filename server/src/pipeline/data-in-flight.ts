/**
 * Which data are being set: of each setData in flight its znode, and what it leaves there.
 *
 * A queue in the order of zxids, in typed arrays, since there is one for every write; and by znode
 * the newest one, which leads to the older ones. Places have numbers that only grow, so what has
 * left is told by its number alone, and nothing is unlinked. Holds memory for the most that ever
 * were in flight, which is what all members may have outstanding. Called by Overlay.
 */
import { assert, type Zxid } from '@rookery/protocol';

export const NONE = -1;
/** A power of two. */
const PLACES_FIRST = 256;
/** Spreads the numbers of znodes over the places. */
const SPREAD = 0x9e3779b1 | 0;

export interface DataChange {
  readonly zxid: Zxid;
  /** In the tree, for as long as the change is in flight. */
  readonly node: number;
  /** What it has afterwards. */
  readonly version: number;
  readonly dataBytes: number;
}

export class DataInFlight {
  #places = PLACES_FIRST;
  #zxids = new Float64Array(PLACES_FIRST);
  #nodes = new Int32Array(PLACES_FIRST);
  #versions = new Int32Array(PLACES_FIRST);
  #dataBytes = new Int32Array(PLACES_FIRST);
  /** The number of the one before it whose znode has the same hash; it may have left. */
  #older = new Float64Array(PLACES_FIRST).fill(NONE);
  /** By hash the number of the newest one; it may have left. */
  #newest = new Float64Array(PLACES_FIRST).fill(NONE);
  /** Numbers of the first one, and of the next to come. */
  #first = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#first;
  }

  /** Infinite when there is none. */
  get firstZxid(): Zxid {
    if (this.#end === this.#first) return Number.POSITIVE_INFINITY;
    return this.#zxids[this.#placeOf(this.#first)] ?? 0;
  }

  /** Behind all others. */
  add({ zxid, node, version, dataBytes }: DataChange): void {
    if (this.length === this.#places) this.#grow();
    const place = this.#placeOf(this.#end);
    const hash = this.#hashOf(node);
    this.#zxids[place] = zxid;
    this.#nodes[place] = node;
    this.#versions[place] = version;
    this.#dataBytes[place] = dataBytes;
    this.#older[place] = this.#newest[hash] ?? NONE;
    this.#newest[hash] = this.#end;
    this.#end += 1;
  }

  /** The first one is applied. */
  shift(): void {
    assert(this.length > 0, 'the data that are applied were in flight');
    this.#first += 1;
  }

  /** The number of the newest change of the znode, or NONE. */
  find(node: number): number {
    if (this.#end === this.#first) return NONE;
    let number = this.#newest[this.#hashOf(node)] ?? NONE;
    while (number >= this.#first) {
      const place = this.#placeOf(number);
      if (this.#nodes[place] === node) return number;
      number = this.#older[place] ?? NONE;
    }
    return NONE;
  }

  version(number: number): number {
    return this.#versions[this.#placeOf(number)] ?? 0;
  }
  dataBytes(number: number): number {
    return this.#dataBytes[this.#placeOf(number)] ?? 0;
  }

  #placeOf(number: number): number {
    return number & (this.#places - 1);
  }

  #hashOf(node: number): number {
    return (Math.imul(node, SPREAD) >>> 12) & (this.#places - 1);
  }

  #grow(): void {
    const all: DataChange[] = [];
    for (let number = this.#first; number < this.#end; number++) {
      const place = this.#placeOf(number);
      all.push({
        zxid: this.#zxids[place] ?? 0,
        node: this.#nodes[place] ?? 0,
        version: this.version(number),
        dataBytes: this.dataBytes(number),
      });
    }
    this.#places *= 2;
    this.#zxids = new Float64Array(this.#places);
    this.#nodes = new Int32Array(this.#places);
    this.#versions = new Int32Array(this.#places);
    this.#dataBytes = new Int32Array(this.#places);
    this.#older = new Float64Array(this.#places).fill(NONE);
    this.#newest = new Float64Array(this.#places).fill(NONE);
    this.#end = this.#first;
    for (const one of all) this.add(one);
  }
}
