/**
 * Knows which data are being set in place (`Overlay.setDataView`): for each such setData in flight,
 * its znode and the result. For any other setData the overlay has a record, and nothing is here.
 *
 * It is a queue in the order of zxids, and finds the newest change of a znode. Called by Overlay.
 */
import type { Zxid } from '@rookery/protocol';
import { CAPACITY_FIRST, doubled, InFlight } from './in-flight.js';
import { hashOfNode, NewestByHash, NONE } from './newest-by-hash.js';

export interface DataChange {
  readonly zxid: Zxid;
  /** The node in the tree, for as long as the change is in flight. */
  readonly node: number;
  /** The version of the znode afterwards. */
  readonly version: number;
  readonly dataBytes: number;
}

export class DataInFlight extends InFlight {
  #nodes = new Int32Array(CAPACITY_FIRST);
  #versions = new Int32Array(CAPACITY_FIRST);
  #dataBytes = new Int32Array(CAPACITY_FIRST);
  readonly #byNode = new NewestByHash();

  /** Adds it after all others. */
  add({ zxid, node, version, dataBytes }: DataChange): void {
    const number = this.push(zxid);
    const index = this.indexOf(number);
    this.#nodes[index] = node;
    this.#versions[index] = version;
    this.#dataBytes[index] = dataBytes;
    this.#byNode.add(hashOfNode(node), number);
  }

  /** The number of the newest change of the znode, or NONE. */
  find(node: number): number {
    if (this.end === this.first) return NONE;
    let number = this.#byNode.of(hashOfNode(node));
    while (number >= this.first) {
      if (this.#nodes[this.indexOf(number)] === node) return number;
      number = this.#byNode.older(number);
    }
    return NONE;
  }

  version(number: number): number {
    return this.#versions[this.indexOf(number)] ?? 0;
  }
  dataBytes(number: number): number {
    return this.#dataBytes[this.indexOf(number)] ?? 0;
  }

  protected override grow(capacity: number): void {
    this.#nodes = doubled(this.#nodes, new Int32Array(capacity));
    this.#versions = doubled(this.#versions, new Int32Array(capacity));
    this.#dataBytes = doubled(this.#dataBytes, new Int32Array(capacity));
    this.#byNode.grow(capacity);
  }
}
