/**
 * Which znodes are being created in the plainest way: persistent, by a request of its own, below a
 * parent that is in the tree and that nothing else in flight changes but its data.
 *
 * A queue in the order of zxids, in typed arrays, since there is one for every such create; found
 * by parent and name, and by the parent alone the newest one. What all of them do to a parent is
 * told by that one: each adds a child and raises the count of creates by one. Holds memory for the
 * most that ever were in flight. Called by Overlay.
 */
import { assert, type Zxid } from '@rookery/protocol';
import type { Acl } from '../state/txn.js';
import { hashOfNode, Newest, NONE } from './newest.js';

/** A power of two. */
const PLACES_FIRST = 256;
/** Of a name: what is longer is not for this queue. */
export const CREATED_NAME_BYTES_MAX = 64;

/** Which znode, as its path lies in memory. */
export interface CreatePlace {
  /** Of the whole path; of ASCII wherever it is to be found. */
  readonly hash: number;
  /** In the tree, for as long as the create is in flight. */
  readonly parent: number;
  readonly bytes: Uint8Array;
  readonly nameStart: number;
  readonly pathEnd: number;
}

export interface Created {
  readonly zxid: Zxid;
  /** Creates ever done below the parent, this one included. */
  readonly creates: number;
  readonly acl: readonly Acl[];
  readonly dataBytes: number;
}

const NO_ACL: readonly Acl[] = [];

/** All that is known of each, by its place. */
class Places {
  readonly count: number;
  readonly zxids: Float64Array;
  readonly hashes: Int32Array;
  readonly parents: Int32Array;
  readonly creates: Int32Array;
  readonly dataBytes: Int32Array;
  readonly acls: (readonly Acl[])[];
  /** Each has room for the longest; how much of it counts is beside. */
  readonly names: Uint8Array;
  readonly nameBytes: Uint8Array;
  readonly byPath: Newest;
  readonly byParent: Newest;

  constructor(count: number) {
    this.count = count;
    this.zxids = new Float64Array(count);
    this.hashes = new Int32Array(count);
    this.parents = new Int32Array(count);
    this.creates = new Int32Array(count);
    this.dataBytes = new Int32Array(count);
    this.acls = new Array(count).fill(NO_ACL);
    this.names = new Uint8Array(count * CREATED_NAME_BYTES_MAX);
    this.nameBytes = new Uint8Array(count);
    this.byPath = new Newest(count);
    this.byParent = new Newest(count);
  }
}

export class CreatesInFlight {
  #places = new Places(PLACES_FIRST);
  /** Numbers of the first one, and of the next to come. */
  #first = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#first;
  }

  /** Infinite when there is none. */
  get firstZxid(): Zxid {
    if (this.#end === this.#first) return Number.POSITIVE_INFINITY;
    return this.#places.zxids[this.#placeOf(this.#first)] ?? 0;
  }

  /** Behind all others; it is not among them. */
  add(where: CreatePlace, { zxid, creates, acl, dataBytes }: Created): void {
    const { hash, parent, bytes, nameStart, pathEnd } = where;
    const size = pathEnd - nameStart;
    assert(size <= CREATED_NAME_BYTES_MAX, () => `a name of ${size} bytes is short`);
    if (this.length === this.#places.count) this.#grow();
    const places = this.#places;
    const place = this.#placeOf(this.#end);
    places.zxids[place] = zxid;
    places.hashes[place] = hash;
    places.parents[place] = parent;
    places.creates[place] = creates;
    places.dataBytes[place] = dataBytes;
    places.acls[place] = acl;
    places.nameBytes[place] = size;
    const start = place * CREATED_NAME_BYTES_MAX;
    for (let at = 0; at < size; at++) places.names[start + at] = bytes[nameStart + at] ?? 0;
    places.byPath.add(hash, this.#end);
    places.byParent.add(hashOfNode(parent), this.#end);
    this.#end += 1;
  }

  /** The first one is applied. */
  shift(): void {
    assert(this.length > 0, 'the create that is applied was in flight');
    this.#first += 1;
  }

  /** The number of the create of that znode, or NONE. */
  find(where: CreatePlace): number {
    if (this.#end === this.#first) return NONE;
    let number = this.#places.byPath.of(where.hash);
    while (number >= this.#first) {
      if (this.#isOf(this.#placeOf(number), where)) return number;
      number = this.#places.byPath.older(number);
    }
    return NONE;
  }

  /** The number of the newest create below a znode, or NONE. */
  newestBelow(parent: number): number {
    if (this.#end === this.#first) return NONE;
    let number = this.#places.byParent.of(hashOfNode(parent));
    while (number >= this.#first) {
      if (this.#places.parents[this.#placeOf(number)] === parent) return number;
      number = this.#places.byParent.older(number);
    }
    return NONE;
  }

  creates(number: number): number {
    return this.#places.creates[this.#placeOf(number)] ?? 0;
  }
  dataBytes(number: number): number {
    return this.#places.dataBytes[this.#placeOf(number)] ?? 0;
  }
  acl(number: number): readonly Acl[] {
    return this.#places.acls[this.#placeOf(number)] ?? NO_ACL;
  }

  #placeOf(number: number): number {
    return number & (this.#places.count - 1);
  }

  #isOf(place: number, { hash, parent, bytes, nameStart, pathEnd }: CreatePlace): boolean {
    const { hashes, parents, names, nameBytes } = this.#places;
    const size = pathEnd - nameStart;
    if (hashes[place] !== hash || parents[place] !== parent || nameBytes[place] !== size) {
      return false;
    }
    const start = place * CREATED_NAME_BYTES_MAX;
    for (let at = 0; at < size; at++) {
      if (names[start + at] !== bytes[nameStart + at]) return false;
    }
    return true;
  }

  /** Twice as many places; each create keeps its number. */
  #grow(): void {
    const from = this.#places;
    const end = this.#end;
    this.#places = new Places(2 * from.count);
    this.#end = this.#first;
    for (let number = this.#first; number < end; number++) {
      const place = number & (from.count - 1);
      const nameStart = place * CREATED_NAME_BYTES_MAX;
      const pathEnd = nameStart + (from.nameBytes[place] ?? 0);
      const name = { bytes: from.names, nameStart, pathEnd };
      const where = { hash: from.hashes[place] ?? 0, parent: from.parents[place] ?? 0, ...name };
      const zxid = from.zxids[place] ?? 0;
      const acl = from.acls[place] ?? NO_ACL;
      const sizes = { creates: from.creates[place] ?? 0, dataBytes: from.dataBytes[place] ?? 0 };
      this.add(where, { zxid, acl, ...sizes });
    }
  }
}
