/**
 * Knows which znodes are being created in the plainest way: persistent, by a request of its own,
 * below a parent that is in the tree and of which nothing else in flight changes more than the
 * data.
 *
 * It is a queue in the order of zxids. A create is found by parent and name, and the newest one by
 * the parent alone. That one tells what all of them do to a parent: each adds a child and raises
 * the count of creates by one. Called by Overlay.
 */
import { assert, type Zxid } from '@rookery/protocol';
import type { Acl } from '../state/txn.js';
import { CAPACITY_FIRST, doubled, InFlight } from './in-flight.js';
import { hashOfNode, NewestByHash, NONE } from './newest-by-hash.js';

/** The bound of a name; a create with a longer one does not go into this queue. */
export const CREATED_NAME_BYTES_MAX = 64;

/** A znode, given by where its path is in memory. */
export interface CreateTarget {
  /** The hash of the whole path, which is ASCII wherever it is to be found. */
  readonly hash: number;
  /** The node in the tree, for as long as the create is in flight. */
  readonly parent: number;
  readonly bytes: Uint8Array;
  readonly nameStart: number;
  readonly pathEnd: number;
}

export interface Created {
  readonly zxid: Zxid;
  /** The number of creates ever done below the parent, this one included. */
  readonly creates: number;
  readonly acl: readonly Acl[];
  readonly dataBytes: number;
}

const NO_ACL: readonly Acl[] = [];

export class CreatesInFlight extends InFlight {
  #hashes = new Int32Array(CAPACITY_FIRST);
  #parents = new Int32Array(CAPACITY_FIRST);
  #creates = new Int32Array(CAPACITY_FIRST);
  #dataBytes = new Int32Array(CAPACITY_FIRST);
  #acls: (readonly Acl[])[] = new Array(CAPACITY_FIRST).fill(NO_ACL);
  /** Each entry has room for the longest name; how much of it counts is stored separately. */
  #names = new Uint8Array(CAPACITY_FIRST * CREATED_NAME_BYTES_MAX);
  #nameBytes = new Uint8Array(CAPACITY_FIRST);
  readonly #byPath = new NewestByHash();
  readonly #byParent = new NewestByHash();

  /** Adds it after all others; it must not be among them. */
  add(where: CreateTarget, { zxid, creates, acl, dataBytes }: Created): void {
    const { hash, parent, bytes, nameStart, pathEnd } = where;
    const size = pathEnd - nameStart;
    assert(size <= CREATED_NAME_BYTES_MAX, () => `a name of ${size} bytes is short`);
    const number = this.push(zxid);
    const index = this.indexOf(number);
    this.#hashes[index] = hash;
    this.#parents[index] = parent;
    this.#creates[index] = creates;
    this.#dataBytes[index] = dataBytes;
    this.#acls[index] = acl;
    this.#nameBytes[index] = size;
    const start = index * CREATED_NAME_BYTES_MAX;
    for (let at = 0; at < size; at++) this.#names[start + at] = bytes[nameStart + at] ?? 0;
    this.#byPath.add(hash, number);
    this.#byParent.add(hashOfNode(parent), number);
  }

  /** The number of the create of that znode, or NONE. */
  find(where: CreateTarget): number {
    if (this.end === this.first) return NONE;
    let number = this.#byPath.of(where.hash);
    while (number >= this.first) {
      if (this.#isOf(this.indexOf(number), where)) return number;
      number = this.#byPath.older(number);
    }
    return NONE;
  }

  /** The number of the newest create below a znode, or NONE. */
  newestBelow(parent: number): number {
    if (this.end === this.first) return NONE;
    let number = this.#byParent.of(hashOfNode(parent));
    while (number >= this.first) {
      if (this.#parents[this.indexOf(number)] === parent) return number;
      number = this.#byParent.older(number);
    }
    return NONE;
  }

  creates(number: number): number {
    return this.#creates[this.indexOf(number)] ?? 0;
  }
  dataBytes(number: number): number {
    return this.#dataBytes[this.indexOf(number)] ?? 0;
  }
  acl(number: number): readonly Acl[] {
    return this.#acls[this.indexOf(number)] ?? NO_ACL;
  }

  #isOf(index: number, { hash, parent, bytes, nameStart, pathEnd }: CreateTarget): boolean {
    const size = pathEnd - nameStart;
    if (this.#hashes[index] !== hash || this.#parents[index] !== parent) return false;
    if (this.#nameBytes[index] !== size) return false;
    const start = index * CREATED_NAME_BYTES_MAX;
    for (let at = 0; at < size; at++) {
      if (this.#names[start + at] !== bytes[nameStart + at]) return false;
    }
    return true;
  }

  protected override grow(capacity: number): void {
    this.#hashes = doubled(this.#hashes, new Int32Array(capacity));
    this.#parents = doubled(this.#parents, new Int32Array(capacity));
    this.#creates = doubled(this.#creates, new Int32Array(capacity));
    this.#dataBytes = doubled(this.#dataBytes, new Int32Array(capacity));
    this.#acls = [...this.#acls, ...this.#acls];
    this.#names = doubled(this.#names, new Uint8Array(capacity * CREATED_NAME_BYTES_MAX));
    this.#nameBytes = doubled(this.#nameBytes, new Uint8Array(capacity));
    this.#byPath.grow(capacity);
    this.#byParent.grow(capacity);
  }
}
