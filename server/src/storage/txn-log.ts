/**
 * Keeps the write-ahead log of one generation: a chain of segments, each a plain file.
 *
 * Owns which segment is written (the newest one), preparing the next before it is needed, cutting a
 * suffix off, purging from the front, and reading for a learner. A process writes only to segments
 * that it began itself: its first append and every truncation begin one, so nothing durable is ever
 * written over, and the log is one chain at every moment, after a crash too. A purge leaves the
 * zxid of the checkpoint in it, as a proposal or as its base. Its caller appends and truncates one
 * at a time, and never after a failure, as Storage asserts.
 */
import {
  assert,
  bufferOf,
  formatZxid,
  holds,
  type ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import { Background } from './background.js';
import type { LogSetup } from './contract.js';
import { DamagedError, HistoryGoneError, UnreadableHistoryError } from './errors.js';
import type { LogFile } from './key-value.js';
import {
  BatchJoiner,
  RecordReader,
  readHeader,
  Segment,
  segmentName,
  storedBatch,
} from './log-segment.js';

/**
 * The bytes that are preallocated for a file which was not prepared, such as the first segment
 * after a start. Writes wait for that, so they are few.
 */
const FIRST_PREALLOCATED_BYTES = 1 << 20;
/** The next file is created when this part of the newest segment is used. */
const NEXT_FILE_AT = 1 / 8;
/** The bytes preallocated at a time, with one sync each, as the newest segment fills. */
const STEP_BYTES = 512 << 10;
/** A small segment is preallocated in at least this many steps. */
const STEPS_MIN = 8;
/**
 * While the synced writes of the newest segment are larger than this on average, the next file is
 * not filled with zeros: writing those takes as much of the disk as the log itself, and makes only
 * a few syncs cheaper. The size of records does not matter: one write has one sync.
 */
const LARGE_WRITE_BYTES = 32 << 10;
/** With more files than this, the oldest are not kept for learners, however small they are. */
const SEGMENTS_MAX = 64;

/** The number of random bytes in the salt of a segment. */
const SALT_BYTES = 8;

export class TxnLog {
  readonly generation: number;
  readonly #setup: LogSetup;
  /** Durably records that a segment was begun; null while no start would read the log. */
  #recordBegun: ((seq: number) => Promise<void>) | null = null;
  /** Prepares the next segment, which waits for this work. */
  readonly #background = new Background();
  /** Removes old segments. Nothing waits for this work. */
  readonly #removals = new Background();
  /** What `protect` has returned and `unprotect` has not taken back. */
  readonly #protections = new Set<{ readonly after: Zxid }>();
  #segments: Segment[];
  #last: Zxid;
  #lastSeq: number;
  /** The next file, created early and not begun yet. */
  #next: LogFile | null = null;
  /** It is being created or preallocated in background. */
  #isPreparing = false;
  /** The number of synced writes to the newest segment. */
  #writeCount = 0;
  #writtenBytes = 0;
  #truncations = 0;

  /**
   * A log of `segments`, oldest first, which are no longer written. `lastSeq` is the highest number
   * that a segment has had.
   */
  constructor(
    setup: LogSetup,
    found: {
      readonly generation: number;
      readonly segments: readonly Segment[];
      readonly last: Zxid;
      readonly lastSeq: number;
    },
  ) {
    this.#setup = setup;
    this.generation = found.generation;
    this.#segments = [...found.segments];
    this.#last = found.last;
    this.#lastSeq = found.lastSeq;
  }

  /** Creates an empty log of one segment, number 0; it is durable when this resolves. */
  static async create(
    setup: LogSetup,
    { generation, base }: { readonly generation: number; readonly base: Zxid },
  ): Promise<TxnLog> {
    const log = new TxnLog(setup, { generation, segments: [], last: base, lastSeq: -1 });
    await log.#begin();
    return log;
  }

  /** The log is the live one: from now on nothing is written to a segment before it is recorded. */
  goLive(recordBegun: (seq: number) => Promise<void>): void {
    this.#recordBegun = recordBegun;
  }

  /** The number of the newest segment. */
  get lastSeq(): number {
    return this.#lastSeq;
  }
  get last(): Zxid {
    return this.#last;
  }
  get base(): Zxid {
    return this.#segments[0]?.base ?? this.#last;
  }
  /** Bytes appended since the log was opened. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }
  get truncations(): number {
    return this.#truncations;
  }

  /** Appends batches in one synced write. A failure leaves the log unusable. */
  async append(batches: readonly ProposalBatch[]): Promise<void> {
    if (batches.length === 0) return;
    this.#checkBackground();
    this.#assertChain(batches);
    const segment = this.#writable ?? (await this.#begin());
    const before = segment.bytes;
    await segment.append(batches, this.#setup.options.recordBytesMax);
    this.#writtenBytes += segment.bytes - before;
    this.#writeCount += 1;
    this.#last = segment.last;
    this.#prepareNext(segment);
  }

  /**
   * Truncates after a zxid. Durable when resolved; after a crash before that the log is as it was.
   */
  async truncate(after: Zxid): Promise<void> {
    const { base, last } = this;
    assert(after >= base, `truncation to ${formatZxid(after)} is above base ${formatZxid(base)}`);
    assert(after <= last, `truncation to ${formatZxid(after)} is below last ${formatZxid(last)}`);
    if (after === last) return;
    this.#checkBackground();
    this.#truncations += 1;
    const dropped = this.#segments.filter((segment) => segment.base >= after);
    this.#segments = this.#segments.filter((segment) => segment.base < after);
    const kept = this.#segments.at(-1);
    if (kept !== undefined) {
      assert(holds(kept, after), `${formatZxid(after)} is a proposal of the log`);
      kept.cut(after);
    }
    this.#last = after;
    await this.#begin();
    // The new header does not lead to them, so whatever a crash leaves of them is void.
    for (const segment of dropped) this.#removals.run(() => segment.file.markForDeletion());
  }

  /** Protects everything after `after` from being purged until `unprotect` takes the result. */
  protect(after: Zxid): { readonly after: Zxid } {
    const protection = { after };
    this.#protections.add(protection);
    return protection;
  }

  unprotect(protection: { readonly after: Zxid }): void {
    this.#protections.delete(protection);
  }

  /** Reads (after, through], which is not purged meanwhile. Throws the errors of `readLog`. */
  async *read(after: Zxid, through: Zxid): AsyncGenerator<ProposalBatch> {
    const protection = this.protect(after);
    try {
      yield* readLog(this, { after, through }, this.#setup.options.recordBytesMax);
    } finally {
      this.unprotect(protection);
    }
  }

  /**
   * The last zxid of the newest segment whose header cannot be read any more, and its name; null if
   * there is none. Only a start reads headers.
   */
  async lostHeader(): Promise<{ readonly name: string; readonly through: Zxid } | null> {
    for (const segment of this.#segments.toReversed()) {
      const { name } = segment;
      if (!this.isInUse(segment)) continue;
      const header = await segment.file.use((file) => readHeader(file, name));
      if (header === null && this.isInUse(segment)) return { name, through: segment.last };
    }
    return null;
  }

  /** The number of segments that end in (after, through]. */
  segmentsIn(after: Zxid, through: Zxid): number {
    return this.#segments.filter(({ last }) => last > after && last <= through).length;
  }

  /** The segment that contains the proposal after `after`. */
  holderOf(after: Zxid): Segment | undefined {
    const segment = this.#segments.find((candidate) => candidate.last > after);
    return segment !== undefined && holds(segment, after) ? segment : undefined;
  }
  isInUse(segment: Segment): boolean {
    return this.#segments.includes(segment);
  }

  /**
   * Gives up everything through `zxid`, the end of a segment that cannot be read, if a restart from
   * `checkpoint` does not need it; learners then receive a snapshot. Returns false if it is needed.
   */
  dropThrough(zxid: Zxid, checkpoint: Zxid): boolean {
    if (this.base >= zxid) return true;
    const next = this.#segments.find((segment) => segment.base >= zxid);
    if (next === undefined || next.base > checkpoint) return false;
    while (this.#segments[0] !== undefined && this.#segments[0] !== next) this.#dropFirst();
    return true;
  }

  /**
   * Drops the oldest segments that a restart from `checkpoint` does not need and that are not
   * protected, as long as `keepBytes` remain before the checkpoint or there are more than
   * SEGMENTS_MAX. Returns the new base. Files are removed in the background.
   */
  purge(checkpoint: Zxid, keepBytes: number): Zxid {
    while (this.#mayDropFirst(checkpoint, keepBytes)) this.#dropFirst();
    return this.base;
  }

  /** Waits for all background work, also after a failure, and throws its failure. */
  async idle(): Promise<void> {
    try {
      await this.#background.idle();
    } finally {
      await this.#removals.idle();
    }
  }

  /** Closes the open files of a log that will not be used. */
  async closeFiles(): Promise<void> {
    await this.#segments.at(-1)?.endAppending();
    await this.#next?.close();
  }

  /** The log is no longer used: its segments are deleted when their last readers have finished. */
  async markForDeletion(): Promise<void> {
    await this.idle();
    await this.#delete();
  }

  /** Like `markForDeletion`, also after a failure: nothing has ever relied on this log. */
  async discard(): Promise<void> {
    await Promise.allSettled([this.#background.idle(), this.#removals.idle()]);
    await this.#delete();
  }

  async #delete(): Promise<void> {
    const segments = this.#segments;
    // A reader that reaches its next segment finds that it is gone.
    this.#segments = [];
    for (const segment of segments) await segment.file.markForDeletion();
    if (this.#next === null) return;
    await this.#next.close();
    await this.#setup.logFiles.remove(segmentName(this.generation, this.#lastSeq + 1));
  }

  /** Throws the failure of background work: the contents of the disk are unknown then. */
  #checkBackground(): void {
    this.#background.check();
    this.#removals.check();
  }

  /** Asserts that batches are a chain. Within a batch that is always true. */
  #assertChain(batches: readonly ProposalBatch[]): void {
    let end = this.#last;
    for (const { first, previous, last } of batches) {
      assert(
        previous === end,
        () =>
          `${formatZxid(first)} names ${formatZxid(previous)} as its predecessor` +
          `, the log ends with ${formatZxid(end)}`,
      );
      end = last;
    }
  }

  /** The newest segment; null if it is full, or an earlier process began it. */
  get #writable(): Segment | null {
    const newest = this.#segments.at(-1);
    if (newest === undefined || !newest.isAppendable) return null;
    return newest.bytes < this.#bytesMaxOf(newest) ? newest : null;
  }

  #bytesMaxOf({ seq }: Segment): number {
    const { segmentBytesMax, firstPart } = this.#setup.options;
    return seq === 0 ? segmentBytesMax * firstPart : segmentBytesMax;
  }

  /** Begins a segment after `last`, where the newest one ends. */
  async #begin(): Promise<Segment> {
    await this.#background.idle();
    const previous = this.#segments.at(-1) ?? null;
    const seq = this.#lastSeq + 1;
    const file = this.#next ?? (await this.#newFile(seq));
    this.#next = null;
    this.#lastSeq = seq;
    const segment = await Segment.begin(this.#setup.logFiles, file, {
      generation: this.generation,
      seq,
      base: this.#last,
      follows: previous?.seq ?? null,
      salt: bufferOf(this.#setup.randomBytes(SALT_BYTES)).toString('hex'),
      previous: previous === null ? null : { bytes: previous.bytes, ranges: previous.ranges },
    });
    await this.#recordBegun?.(seq);
    this.#segments.push(segment);
    this.#writeCount = 0;
    if (previous !== null) this.#background.run(() => previous.endAppending());
    return segment;
  }

  async #newFile(seq: number): Promise<LogFile> {
    const { logFiles, options } = this.#setup;
    const file = await logFiles.create(segmentName(this.generation, seq));
    await file.preallocate(Math.min(FIRST_PREALLOCATED_BYTES, options.segmentBytesMax));
    return file;
  }

  /** Creates the next file in the background and preallocates it as the newest segment fills. */
  #prepareNext(newest: Segment): void {
    const { logFiles, options } = this.#setup;
    const { segmentBytesMax } = options;
    if (this.#isPreparing || newest.bytes < NEXT_FILE_AT * this.#bytesMaxOf(newest)) return;
    const next = this.#next;
    if (next === null) {
      return this.#prepare(async () => {
        this.#next = await logFiles.create(segmentName(this.generation, this.#lastSeq + 1));
      });
    }
    if (newest.bytes > this.#writeCount * LARGE_WRITE_BYTES) return;
    // The file is complete shortly before the newest segment is full, without bursts of writes.
    const filled = newest.bytes / (1 - NEXT_FILE_AT) / this.#bytesMaxOf(newest);
    const dueBytes = Math.min(1, filled) * segmentBytesMax;
    const stepBytes = Math.min(STEP_BYTES, Math.ceil(segmentBytesMax / STEPS_MIN));
    const size = Math.min(next.size + stepBytes, segmentBytesMax);
    if (size <= dueBytes && size > next.size) this.#prepare(() => next.preallocate(size));
  }

  #prepare(work: () => Promise<void>): void {
    this.#isPreparing = true;
    this.#background.run(async () => {
      await work();
      this.#isPreparing = false;
    });
  }

  #dropFirst(): void {
    const dropped = this.#segments.shift();
    assert(dropped !== undefined, 'there is a segment to drop');
    this.#removals.run(() => dropped.file.markForDeletion());
  }

  #mayDropFirst(checkpoint: Zxid, keepBytes: number): boolean {
    const [first, second] = this.#segments;
    if (first === undefined || second === undefined || second.base > checkpoint) return false;
    for (const { after } of this.#protections) if (after < first.last) return false;
    if (this.#segments.length > SEGMENTS_MAX) return true;
    let kept = 0;
    for (const segment of this.#segments) {
      if (segment !== first && segment.last <= checkpoint) kept += segment.bytes;
    }
    return kept >= keepBytes;
  }
}

/**
 * What is in (after, through], in batches of about `bytesMax`. Throws HistoryGoneError;
 * UnreadableHistoryError for what a segment should hold and does not.
 */
async function* readLog(
  log: TxnLog,
  { after, through }: { readonly after: Zxid; readonly through: Zxid },
  bytesMax: number,
): AsyncGenerator<ProposalBatch> {
  const { truncations } = log;
  let previous = after;
  while (previous < through) {
    const start = previous;
    const segment = log.holderOf(start);
    if (segment === undefined) throw gone(start);
    // More may be appended while it is read.
    const end = Math.min(segment.last, through);
    try {
      for await (const batch of readSegment(segment, { after: start, through: end }, bytesMax)) {
        previous = batch.last;
        yield batch;
      }
      if (previous < end) throw lost(segment, previous);
    } catch (error) {
      // The log was truncated meanwhile, or is no longer in use.
      if (truncations !== log.truncations || !log.isInUse(segment)) throw gone(previous);
      // Another attempt would not succeed either.
      if (!(error instanceof DamagedError)) throw error;
      throw new UnreadableHistoryError(segment.last, error);
    }
  }
}

async function* readSegment(
  segment: Segment,
  { after, through }: { readonly after: Zxid; readonly through: Zxid },
  bytesMax: number,
): AsyncGenerator<ProposalBatch> {
  const file = await segment.file.acquire();
  try {
    const from = segment.offsetBefore(after);
    const reader = new RecordReader(file, { salt: segment.header.salt, from, end: segment.end });
    const joiner = new BatchJoiner(bytesMax);
    for (let last = after; last < through; ) {
      const record = await reader.next();
      if (record === null) break;
      const part = storedBatch(recordAt(segment, record), record.payload).part(after, through);
      if (part === null) continue;
      if (part.previous !== last) throw lost(segment, last);
      last = part.last;
      const batch = joiner.add(part);
      if (batch !== null) yield batch;
    }
    const rest = joiner.take();
    if (rest !== null) yield rest;
  } finally {
    await segment.file.release();
  }
}

/** Says where a record is, for messages. */
export function recordAt({ name }: Segment, { offset }: { readonly offset: number }): string {
  return `the record at ${offset} of ${name}`;
}

function lost({ name }: Segment, after: Zxid): DamagedError {
  return new DamagedError(`${name} has lost what follows ${formatZxid(after)}`);
}

function gone(after: Zxid): HistoryGoneError {
  return new HistoryGoneError(`the log does not hold what follows ${formatZxid(after)}`);
}
