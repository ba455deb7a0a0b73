/**
 * Knows which data are being set: for each setData in flight, its znode and the result.
 *
 * It is a queue in the order of zxids, and finds the newest change of a znode. Called by Overlay.
 */
import type { Zxid } from '@rookery/protocol';
import { InFlight, PLACES_FIRST, twice } from './in-flight.js';
import { hashOfNode, Newest, NONE } from './newest.js';

export interface DataChange {
  readonly zxid: Zxid;
  /** The node in the tree, for as long as the change is in flight. */
  readonly node: number;
  /** The version of the znode afterwards. */
  readonly version: number;
  readonly dataBytes: number;
}

export class DataInFlight extends InFlight {
  #nodes = new Int32Array(PLACES_FIRST);
  #versions = new Int32Array(PLACES_FIRST);
  #dataBytes = new Int32Array(PLACES_FIRST);
  readonly #byNode = new Newest();

  /** Adds it after all others. */
  add({ zxid, node, version, dataBytes }: DataChange): void {
    const number = this.push(zxid);
    const place = this.placeOf(number);
    this.#nodes[place] = node;
    this.#versions[place] = version;
    this.#dataBytes[place] = dataBytes;
    this.#byNode.add(hashOfNode(node), number);
  }

  /** The number of the newest change of the znode, or NONE. */
  find(node: number): number {
    if (this.end === this.first) return NONE;
    let number = this.#byNode.of(hashOfNode(node));
    while (number >= this.first) {
      if (this.#nodes[this.placeOf(number)] === node) return number;
      number = this.#byNode.older(number);
    }
    return NONE;
  }

  version(number: number): number {
    return this.#versions[this.placeOf(number)] ?? 0;
  }
  dataBytes(number: number): number {
    return this.#dataBytes[this.placeOf(number)] ?? 0;
  }

  protected override grow(places: number): void {
    this.#nodes = twice(this.#nodes, new Int32Array(places));
    this.#versions = twice(this.#versions, new Int32Array(places));
    this.#dataBytes = twice(this.#dataBytes, new Int32Array(places));
    this.#byNode.grow(places);
  }
}
