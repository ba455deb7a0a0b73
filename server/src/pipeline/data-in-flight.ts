/**
 * Which data are being set: of each setData in flight its znode, and what it leaves there.
 *
 * A queue in the order of zxids, in typed arrays, since there is one for every write; and by znode
 * the newest one. Holds memory for the most that ever were in flight, which is what all members may
 * have outstanding. Called by Overlay.
 */
import { assert, type Zxid } from '@rookery/protocol';
import { hashOfNode, Newest, NONE } from './newest.js';

/** A power of two. */
const PLACES_FIRST = 256;

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
  #byNode = new Newest(PLACES_FIRST);
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
    this.#zxids[place] = zxid;
    this.#nodes[place] = node;
    this.#versions[place] = version;
    this.#dataBytes[place] = dataBytes;
    this.#byNode.add(hashOfNode(node), this.#end);
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
    let number = this.#byNode.of(hashOfNode(node));
    while (number >= this.#first) {
      if (this.#nodes[this.#placeOf(number)] === node) return number;
      number = this.#byNode.older(number);
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
    this.#byNode = new Newest(this.#places);
    this.#end = this.#first;
    for (const one of all) this.add(one);
  }
}
