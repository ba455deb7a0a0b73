/**
 * A batch of proposals. The leader writes its bytes once, and they go over links and into logs as
 * they are.
 *
 * The layout of each proposal is zxid (8 bytes), previous zxid (8), length of the body (4) and
 * body, all big-endian. A batch never changes, so the core with its window of recent proposals, the
 * links and the log share it. There is no object for each proposal: a cursor visits them in place.
 * The headroom is memory before the bytes, for the head of the one frame in which the batch is
 * sent. Invariant: a batch is not empty, and each of its proposals names the one before it.
 */
import { assert } from '../basics/assert.js';
import { MarshallingError } from '../jute/errors.js';
import { bufferOf, intAt, type JuteReader } from '../jute/reader.js';
import { JuteWriter } from '../jute/writer.js';
import type { Proposal, Zxid } from './proposal.js';
import { EPOCH_MAX, epochOf, formatZxid } from './zxid.js';

const HEADER_BYTES = 20;
/** The headroom of a batch that is created here. */
const HEADROOM_BYTES = 16;
/** Many batches lie in one piece of memory, which stays until the last of them is forgotten. */
const SLAB_BYTES = 1 << 20;
const COUNTER_SPAN = 0x1_0000_0000;

interface BatchFacts {
  /** The zxid that the first proposal names as the previous one. */
  readonly previous: Zxid;
  readonly first: Zxid;
  readonly last: Zxid;
  readonly count: number;
}

/** Consecutive zxids of one epoch, both ends included. */
export interface ZxidRange {
  readonly first: Zxid;
  readonly last: Zxid;
}

export class ProposalBatch implements Iterable<Proposal> {
  readonly previous: Zxid;
  readonly first: Zxid;
  readonly last: Zxid;
  readonly count: number;
  readonly bytes: Buffer;
  /** Bytes of memory right before `bytes` that belong to the batch. */
  readonly headroom: number;
  /** The newest part: its last zxid, and where it ends. */
  #partLast: Zxid = -1;
  #partEnd = 0;

  /** Used in this file only; the caller has checked that `facts` describe `bytes`. */
  constructor({ previous, first, last, count }: BatchFacts, bytes: Buffer, headroom = 0) {
    this.previous = previous;
    this.first = first;
    this.last = last;
    this.count = count;
    this.bytes = bytes;
    this.headroom = headroom;
  }

  /** Copies the proposals. Asserts that there is at least one and that they are consecutive. */
  static of(proposals: Iterable<Proposal>): ProposalBatch {
    const writer = new BatchWriter();
    for (const { zxid, previous, body } of proposals) {
      const jute = writer.begin(zxid, previous);
      jute.raw(body);
      jute.endFrame();
    }
    return writer.take();
  }

  /** Uses the bytes without a copy. Throws MarshallingError if they are not a batch. */
  static parse(packed: Uint8Array): ProposalBatch {
    const bytes = bufferOf(packed);
    let at = 0;
    let count = 0;
    let last: Zxid = 0;
    for (; at < bytes.length; count++) {
      if (bytes.length - at < HEADER_BYTES) throw new MarshallingError('a batch ends in a header');
      const zxid = checkedZxid(bytes, at);
      const previous = checkedZxid(bytes, at + 8);
      if (zxid <= previous || (count > 0 && previous !== last)) {
        throw new MarshallingError(`${formatZxid(zxid)} does not continue its batch`);
      }
      at += HEADER_BYTES + uint32At(bytes, at + 16);
      if (at > bytes.length) throw new MarshallingError('a batch ends in a body');
      last = zxid;
    }
    if (count === 0) throw new MarshallingError('a batch is empty');
    const first = zxidAt(bytes, 0);
    return new ProposalBatch({ previous: zxidAt(bytes, 8), first, last, count }, bytes);
  }

  /** Copies several batches into one. Asserts that they are consecutive. */
  static join(parts: readonly ProposalBatch[]): ProposalBatch {
    const [head] = parts;
    assert(head !== undefined, 'a batch is not empty');
    if (parts.length === 1) return head;
    let { last, count } = head;
    for (const part of parts.slice(1)) {
      assert(part.previous === last, () => `${formatZxid(part.first)} continues the batch`);
      last = part.last;
      count += part.count;
    }
    const { previous, first } = head;
    return copied(parts, { previous, first, last, count });
  }

  /** Returns a copy if this batch keeps more than twice its own size in memory, else itself. */
  compact(): ProposalBatch {
    const { bytes } = this;
    return bytes.buffer.byteLength <= 2 * bytes.length ? this : copied([this], this);
  }

  /** Visits the proposals in order; their bodies are views. `cursor` is faster. */
  *[Symbol.iterator](): Generator<Proposal> {
    for (const cursor = this.cursor(); cursor.next(); ) {
      const { zxid, previous, body } = cursor;
      yield { zxid, previous, body };
    }
  }

  /** Returns a cursor before the first proposal. */
  cursor(): ProposalCursor {
    return new ProposalCursor(this.bytes);
  }

  /**
   * Returns the zxids in ascending order: one range for each epoch. A peer's batch may skip zxids,
   * which `parse` accepts; a further range then begins after each gap.
   */
  ranges(): readonly ZxidRange[] {
    const { first, last, count } = this;
    if (last - first === count - 1 && epochOf(first) === epochOf(last)) return [{ first, last }];
    const ranges: { first: Zxid; last: Zxid }[] = [];
    for (const cursor = this.cursor(); cursor.next(); ) {
      const { zxid } = cursor;
      const newest = ranges.at(-1);
      const isNext = newest?.last === zxid - 1 && epochOf(newest.last) === epochOf(zxid);
      if (isNext) newest.last = zxid;
      else ranges.push({ first: zxid, last: zxid });
    }
    return ranges;
  }

  /**
   * Returns the proposals in (after, through] without a copy: at least one, and from the first on
   * as many as fit `bytesMax`. Returns null if the batch has none of them. A part that continues
   * the newest one is found without a search.
   */
  part(after: Zxid, through: Zxid, bytesMax = Number.POSITIVE_INFINITY): ProposalBatch | null {
    const isAll = after < this.first && this.last <= through && this.bytes.length <= bytesMax;
    if (isAll) return this;
    const cursor = new ProposalCursor(this.bytes, after === this.#partLast ? this.#partEnd : 0);
    let hasNext = cursor.next();
    while (hasNext && cursor.zxid <= after) hasNext = cursor.next();
    if (!hasNext || cursor.zxid > through) return null;
    const { previous, zxid: first, start } = cursor;
    const from = start - HEADER_BYTES;
    let last = first;
    let to = cursor.end;
    let count = 1;
    while (cursor.next() && cursor.zxid <= through && cursor.end - from <= bytesMax) {
      last = cursor.zxid;
      to = cursor.end;
      count += 1;
    }
    this.#partLast = last;
    this.#partEnd = to;
    return new ProposalBatch({ previous, first, last, count }, this.bytes.subarray(from, to));
  }
}

/** Visits the proposals of a batch; its fields are valid until the next call of `next`. */
export class ProposalCursor {
  zxid: Zxid = 0;
  /** The offsets of the body's beginning and end in the bytes of the batch. */
  start = 0;
  end: number;
  readonly #bytes: Buffer;

  /** Begins before the proposal at the offset `from`. */
  constructor(bytes: Buffer, from = 0) {
    this.#bytes = bytes;
    this.end = from;
  }

  /** Moves to the next proposal; returns false if there is none. */
  next(): boolean {
    const bytes = this.#bytes;
    const at = this.end;
    if (at >= bytes.length) return false;
    this.zxid = zxidAt(bytes, at);
    this.start = at + HEADER_BYTES;
    this.end = this.start + uint32At(bytes, at + 16);
    return true;
  }

  get previous(): Zxid {
    return zxidAt(this.#bytes, this.start - HEADER_BYTES + 8);
  }

  /** The body as a view. */
  get body(): Uint8Array {
    return this.#bytes.subarray(this.start, this.end);
  }

  /** Points the reader at the body, in place. */
  pointAtBody(reader: JuteReader): void {
    reader.point(this.#bytes, this.start, this.end);
  }
}

/**
 * Creates batches one behind the other in the same memory. Each proposal is written in its final
 * place, where links and log read it.
 */
export class BatchWriter {
  readonly #writer = new JuteWriter(null, SLAB_BYTES);
  #previous: Zxid = 0;
  #first: Zxid = 0;
  #last: Zxid = 0;
  #count = 0;

  /** The number of proposals so far. */
  get count(): number {
    return this.#count;
  }
  /** The bytes of these proposals. */
  get bytes(): number {
    return this.#count === 0 ? 0 : this.#writer.length - HEADROOM_BYTES;
  }

  /**
   * Whether a proposal with a body of so many bytes can be added without copying those before it
   * to new memory. If not, the caller saves that copy by calling `take` first.
   */
  hasRoomFor(bodyBytes: number): boolean {
    return this.#count === 0 || HEADER_BYTES + bodyBytes <= this.#writer.room;
  }

  /** The caller writes the body and ends the frame. Asserts that it continues the batch. */
  begin(zxid: Zxid, previous: Zxid): JuteWriter {
    assert(zxid > previous, () => `${formatZxid(zxid)} is after ${formatZxid(previous)}`);
    if (this.#count === 0) {
      this.#writer.claim(HEADROOM_BYTES);
      this.#previous = previous;
      this.#first = zxid;
    } else {
      assert(previous === this.#last, () => `${formatZxid(zxid)} continues the batch`);
    }
    this.#last = zxid;
    this.#count += 1;
    this.#writer.long(zxid);
    this.#writer.long(previous);
    this.#writer.beginFrame();
    return this.#writer;
  }

  /** Returns the batch of what was written since the last call: at least one proposal. */
  take(): ProposalBatch {
    assert(this.#count > 0, 'a batch is not empty');
    const bytes = bufferOf(this.#writer.take()).subarray(HEADROOM_BYTES);
    const facts = {
      previous: this.#previous,
      first: this.#first,
      last: this.#last,
      count: this.#count,
    };
    this.#count = 0;
    return new ProposalBatch(facts, bytes, HEADROOM_BYTES);
  }
}

/** Copies the bytes of the parts into new memory with headroom before them. */
function copied(parts: readonly ProposalBatch[], facts: BatchFacts): ProposalBatch {
  const size = parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const copy = Buffer.allocUnsafeSlow(HEADROOM_BYTES + size);
  let at = HEADROOM_BYTES;
  for (const { bytes } of parts) at += bytes.copy(copy, at);
  return new ProposalBatch(facts, copy.subarray(HEADROOM_BYTES), HEADROOM_BYTES);
}

function zxidAt(bytes: Buffer, at: number): Zxid {
  return uint32At(bytes, at) * COUNTER_SPAN + uint32At(bytes, at + 4);
}

function checkedZxid(bytes: Buffer, at: number): Zxid {
  const epoch = uint32At(bytes, at);
  if (epoch > EPOCH_MAX) throw new MarshallingError(`an epoch of ${epoch}`);
  return zxidAt(bytes, at);
}

function uint32At(bytes: Buffer, at: number): number {
  return intAt(bytes, at) >>> 0;
}
