/**
 * The log of one generation: segments in a row, each a database that is destroyed whole.
 *
 * Owns which segment is written (the active one), preparing the next before it is needed, cutting
 * a suffix off, and purging from the front. Invariants: the proposals of all segments are one chain
 * at every moment, after a crash too (cut newest first, purge oldest first); the record of the
 * checkpoint, or the base it equals, is never purged. append and truncate: one at a time.
 */
import {
  assert,
  chunksByBytes,
  formatZxid,
  holds,
  type Proposal,
  packedBytesOf,
  packProposals,
  type Zxid,
} from '@rookery/protocol';
import { Background } from './background.js';
import type { KeyValueStore } from './key-value.js';
import { readLog } from './log-reader.js';
import type { SegmentSummary } from './predecessors.js';
import { Segment } from './segment.js';

const FIRST_ROOM_BYTES = 1 << 20;
/** The next segment is made when this part of the active one is full. */
const NEXT_AT = 8;
/** It gets its room by so much at a time, as the active one fills: one sync each. */
const ROOM_STEP_BYTES = 512 << 10;
/** Of a small segment: by such a part of it. */
const ROOM_STEPS_MIN = 8;
/**
 * While groups are larger, the next segment gets no room: to write its zeros takes as much of the
 * processor as all of its groups, and there are few syncs that they would make cheaper.
 */
const LARGE_GROUP_BYTES = 32 << 10;

export interface TxnLogOptions {
  readonly segmentBytesMax: number;
  /** Of a log's first segment, in (0, 1]: members that begin together go on to the next apart. */
  readonly firstPart: number;
  readonly groupBytesMax: number;
}

/** Made at a start, when clients wait for it; it gets no more. */
export function firstRoomBytes({ segmentBytesMax }: TxnLogOptions): number {
  return Math.min(FIRST_ROOM_BYTES, segmentBytesMax);
}

export function roomStepBytes({ segmentBytesMax }: TxnLogOptions): number {
  return Math.min(ROOM_STEP_BYTES, Math.ceil(segmentBytesMax / ROOM_STEPS_MIN));
}

export interface LogParts {
  readonly generation: number;
  readonly segments: readonly Segment[];
  /** Index of the last segment that holds something. */
  readonly active: number;
  readonly last: Zxid;
}

export class TxnLog {
  readonly generation: number;
  private readonly store: KeyValueStore;
  private readonly options: TxnLogOptions;
  private readonly background = new Background();
  /** Of its own: a segment is not written while it gets room. */
  private readonly roomMaker = new Background();
  private readonly pins = new Set<{ readonly after: Zxid }>();
  private readonly segments: Segment[];
  private activeIndex: number;
  private lastZxid: Zxid;
  private writing = false;
  private nextRequested = false;
  /** The segment made last, while it may still get room, and how much it has or is getting. */
  private growing: { readonly segment: Segment; roomBytes: number } | null = null;
  private isMakingRoom = false;
  private appendedBytes = 0;
  private truncationCount = 0;
  /** The end has been marked behind everything that was appended or cut off. */
  private endMarked = true;

  constructor(store: KeyValueStore, parts: LogParts, options: TxnLogOptions) {
    this.store = store;
    this.options = options;
    this.generation = parts.generation;
    this.segments = [...parts.segments];
    this.activeIndex = parts.active;
    this.lastZxid = parts.last;
  }

  /** An empty log; durable when resolved. */
  static async create(
    store: KeyValueStore,
    at: { readonly generation: number; readonly base: Zxid },
    options: TxnLogOptions,
  ): Promise<TxnLog> {
    const segment = await Segment.create(store, { ...at, seq: 0 });
    await segment.makeRoom(firstRoomBytes(options));
    const parts = { generation: at.generation, segments: [segment], active: 0, last: at.base };
    return new TxnLog(store, parts, options);
  }

  get last(): Zxid {
    return this.lastZxid;
  }

  get base(): Zxid {
    const first = this.segments[0];
    return first === undefined || first.empty ? this.lastZxid : first.base;
  }

  /** Bytes appended since it was opened; only grows. */
  get writtenBytes(): number {
    return this.appendedBytes;
  }

  /** In one synced batch: durable when resolved; a failure leaves the log unusable. */
  async append(batch: readonly (readonly Proposal[])[]): Promise<void> {
    const groups = batch.flatMap((proposals) => this.split(proposals));
    if (groups.length === 0) return;
    this.background.check();
    this.roomMaker.check();
    this.assertChain(groups);
    this.begin();
    const active = await this.writableSegment();
    const before = active.bytes;
    await active.append(groups, active.empty ? this.summariesBeforeActive() : []);
    this.appendedBytes += active.bytes - before;
    this.lastZxid = active.last;
    this.endMarked = false;
    this.maybePrepareNext();
    this.maybeMakeRoom();
    this.writing = false;
  }

  /**
   * Durable when resolved. What is left after a crash is one chain, between old end and `after`.
   */
  async truncate(after: Zxid): Promise<void> {
    const { base, last } = this;
    assert(after >= base, `truncation to ${formatZxid(after)} is above base ${formatZxid(base)}`);
    assert(after <= last, `truncation to ${formatZxid(after)} is below last ${formatZxid(last)}`);
    this.begin();
    this.truncationCount += 1;
    // A copy: a purge may take away the oldest ones meanwhile. Those are never cut.
    for (const segment of [...this.segments].reverse()) {
      if (!segment.empty && segment.last <= after) {
        assert(segment.last === after, `${formatZxid(after)} is a proposal of the log`);
        break;
      }
      if (!segment.empty) await segment.cut(after);
      if (!segment.empty) break;
    }
    this.lastZxid = after;
    this.endMarked = false;
    await this.activate(this.lastFilledIndex());
    this.writing = false;
  }

  /**
   * Damage of the last append, or truncation, is known as such from now on, not taken for a torn
   * write. Does nothing when that is so already.
   */
  async markEnd(): Promise<void> {
    if (this.endMarked) return;
    this.background.check();
    this.begin();
    await this.segmentAt(this.activeIndex).markEnd();
    this.endMarked = true;
    this.writing = false;
  }

  /** Keeps everything after `after` from being purged until it is unpinned. */
  pin(after: Zxid): { readonly after: Zxid } {
    const pin = { after };
    this.pins.add(pin);
    return pin;
  }

  unpin(pin: { readonly after: Zxid }): void {
    this.pins.delete(pin);
  }

  /** Throws as `readLog`. Nothing of it is purged while it runs. */
  async *read(after: Zxid, through: Zxid): AsyncGenerator<readonly Proposal[]> {
    const pin = this.pin(after);
    try {
      yield* readLog(this, { after, through }, this.options.groupBytesMax);
    } finally {
      this.unpin(pin);
    }
  }

  /** The segment that holds what follows `after`. */
  holderOf(after: Zxid): Segment | undefined {
    const segment = this.segments.find((candidate) => candidate.last > after);
    return segment !== undefined && holds(segment.summary, after) ? segment : undefined;
  }
  isInUse(segment: Segment): boolean {
    return this.segments.includes(segment);
  }
  get truncations(): number {
    return this.truncationCount;
  }

  /**
   * Gives up everything through `zxid`, the end of a segment that cannot be read, if a restart from
   * `checkpoint` does not need it: learners get a snapshot then. False when it is needed.
   */
  dropThrough(zxid: Zxid, checkpoint: Zxid): boolean {
    if (this.base >= zxid) return true;
    const count = this.segments.findIndex((segment) => segment.last >= zxid) + 1;
    const next = this.segments[count];
    const isEnough = next !== undefined && !next.empty && next.first <= checkpoint;
    if (!isEnough || count > this.activeIndex) return false;
    for (let dropped = 0; dropped < count; dropped++) this.dropFirst();
    return true;
  }

  /**
   * Destroys the oldest segments that neither a restart from `checkpoint` nor a pin needs, as long
   * as `keepBytes` remain behind the checkpoint. Returns the base. The rest is done in background.
   */
  purge(checkpoint: Zxid, keepBytes: number): Zxid {
    while (this.mayDropFirst(checkpoint, keepBytes)) this.dropFirst();
    return this.base;
  }

  /** Waits for background work; throws its failure. */
  async idle(): Promise<void> {
    await this.background.idle();
    await this.roomMaker.idle();
  }

  /** For a log that is not used after all: closes what is open of it. */
  async letGo(): Promise<void> {
    await this.segmentAt(this.activeIndex).database.letGo();
  }

  /** Everything of it is garbage from now on. */
  async retire(): Promise<void> {
    await this.idle();
    for (const segment of this.segments) await segment.database.retire();
  }

  private begin(): void {
    assert(!this.writing, 'one operation of the log at a time, none after a failure');
    this.writing = true;
  }

  /** Within a group packing asserts it. */
  private assertChain(groups: readonly (readonly Proposal[])[]): void {
    let last = this.lastZxid;
    for (const group of groups) {
      const { zxid = 0, previous = 0 } = group[0] ?? {};
      assert(
        previous === last && zxid > last,
        () =>
          `${formatZxid(zxid)} names ${formatZxid(previous)} as its predecessor` +
          `, the log ends with ${formatZxid(last)}`,
      );
      last = group.at(-1)?.zxid ?? last;
    }
  }

  /** One group where that fits: its pack is known. */
  private split(proposals: readonly Proposal[]): readonly (readonly Proposal[])[] {
    if (proposals.length === 0) return [];
    const { groupBytesMax } = this.options;
    if (packProposals(proposals).length <= groupBytesMax) return [proposals];
    return [...chunksByBytes(proposals, groupBytesMax, packedBytesOf)];
  }

  private async writableSegment(): Promise<Segment> {
    const active = this.segmentAt(this.activeIndex);
    if (active.bytes < this.bytesMaxOf(active)) return active;
    if (this.activeIndex + 1 === this.segments.length) {
      this.maybePrepareNext();
      await this.background.idle();
    }
    if (this.growing?.segment === this.segments[this.activeIndex + 1]) {
      this.growing = null;
      await this.roomMaker.idle();
    }
    await this.activate(this.activeIndex + 1);
    return this.segmentAt(this.activeIndex);
  }

  private summariesBeforeActive(): readonly SegmentSummary[] {
    return this.segments.slice(0, this.activeIndex).map(({ summary }) => summary);
  }

  private bytesMaxOf({ header }: Segment): number {
    const { segmentBytesMax, firstPart } = this.options;
    return header.seq === 0 ? segmentBytesMax * firstPart : segmentBytesMax;
  }

  /** Makes the next segment in background, early. */
  private maybePrepareNext(): void {
    const active = this.segmentAt(this.activeIndex);
    if (active.bytes * NEXT_AT < this.bytesMaxOf(active)) return;
    if (this.nextRequested || this.activeIndex + 1 < this.segments.length) return;
    this.nextRequested = true;
    this.background.run(async () => {
      const last = this.segments.at(-1);
      assert(last !== undefined, 'a log has a segment');
      const seq = last.header.seq + 1;
      const header = { generation: this.generation, seq, base: null };
      const next = await Segment.create(this.store, header);
      await last.markSuccessor();
      this.segments.push(next);
      this.nextRequested = false;
      this.growing = { segment: next, roomBytes: 0 };
    });
  }

  /**
   * Gives the next segment its next piece of room, in background: all of it a little before the
   * active one is full. So what it costs the disk is spread over all that is appended meanwhile.
   */
  private maybeMakeRoom(): void {
    const { growing, options } = this;
    const active = this.segmentAt(this.activeIndex);
    if (growing === null || this.isMakingRoom) return;
    if (active.bytes > active.groupCount * LARGE_GROUP_BYTES) return;
    const isFull = (active.bytes * NEXT_AT) / (NEXT_AT - 1) / this.bytesMaxOf(active);
    const dueBytes = Math.min(1, isFull) * options.segmentBytesMax;
    const stepBytes = roomStepBytes(options);
    if (growing.roomBytes + stepBytes > dueBytes) return;
    growing.roomBytes += stepBytes;
    this.isMakingRoom = true;
    this.roomMaker.run(async () => {
      await growing.segment.makeRoom(stepBytes);
      this.isMakingRoom = false;
    });
  }

  private async activate(index: number): Promise<void> {
    if (index === this.activeIndex) return;
    const old = this.segmentAt(this.activeIndex);
    const active = this.segmentAt(index);
    await active.database.hold();
    this.activeIndex = this.segments.indexOf(active);
    // Not awaited by the append: a closed database only gives memory back.
    this.background.run(async () => {
      if (this.segments[this.activeIndex] !== old) await old.database.letGo();
    });
  }

  private dropFirst(): void {
    const dropped = this.segments.shift();
    assert(dropped !== undefined, 'there is a segment to drop');
    this.activeIndex -= 1;
    this.background.run(() => dropped.database.retire());
  }

  private mayDropFirst(checkpoint: Zxid, keepBytes: number): boolean {
    const first = this.segments[0];
    const second = this.segments[1];
    if (first === undefined || second === undefined || this.activeIndex === 0) return false;
    if (second.empty || second.first > checkpoint) return false;
    for (const pin of this.pins) if (pin.after < first.last) return false;
    let kept = 0;
    for (const segment of this.segments) {
      if (segment !== first && !segment.empty && segment.last <= checkpoint) kept += segment.bytes;
    }
    return kept >= keepBytes;
  }

  private lastFilledIndex(): number {
    return Math.max(
      0,
      this.segments.findLastIndex((segment) => !segment.empty),
    );
  }

  private segmentAt(index: number): Segment {
    const segment = this.segments[index];
    assert(segment !== undefined, `segment ${index} of ${this.segments.length} exists`);
    return segment;
  }
}
