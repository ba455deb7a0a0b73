/**
 * Tracks which znodes and sessions changed since the last checkpoint, and hands out their exact
 * records as of the zxid at which a capture began, in slices, while changes continue.
 *
 * Each row carries the capture generation in which it was last changed; storage's generations, each
 * a tree with its log, are another thing. `freeze` starts a new capture generation: rows that are
 * marked with the previous one and are not captured yet belong to the frozen set. Before such a row
 * changes, its record is written (copy before change). A new record makes the znode's former record
 * dead; the records of deleted znodes die with the next capture. Everything that a capture hands
 * out must become durable together. Called by ReplicatedState, which calls `beforeChange` before
 * every change of a row.
 */
import { assert } from '@rookery/protocol';
import { BlockWriter, LONE_RECORD_BYTES, RECORD_BITS } from './node-record.js';
import { blockKey, type CheckpointRecord, RecordBlocks } from './record-blocks.js';
import { encodeSession, type Session, sessionKey } from './session-record.js';
import type { SessionTable } from './session-table.js';
import type { Tree } from './tree.js';
import type { SessionId } from './txn.js';

const CLEAN = 0;
const NO_RECORD = 0;
const SESSION_BYTES = 33;
/**
 * A freeze also treats znodes of sparse record blocks as changed: at most as many as have changed
 * or were deleted since the last one, and this many more.
 */
const REWRITTEN_MIN = 1000;
/**
 * The same in bytes, beside as many as have changed: a thousand large znodes would make a
 * checkpoint of many megabytes.
 */
const REWRITTEN_BYTES_MIN = 1 << 20;

export class Capture {
  readonly #tree: Tree;
  readonly #sessions: SessionTable;
  #blocks = new RecordBlocks();
  readonly #writer = new BlockWriter();
  readonly #loneWriter = new BlockWriter();
  /** The number of the record block that is being written. */
  #blockNumber = 0;
  #blockBytes = 0;
  #generation = 1;
  /**
   * Rows that were marked in this generation. It may name a row twice, or one that is free again.
   */
  #changed: number[] = [];
  /** The records of deleted znodes. */
  #dead: number[] = [];
  #changedBytes = 0;

  #frozenDead: number[] = [];
  #frozenNodes: number[] = [];
  #frozenSessions: (readonly [SessionId, Session | null])[] = [];
  #nextNode = 0;
  /** Record blocks that are complete and not handed out yet. */
  #ready: CheckpointRecord[] = [];

  constructor(tree: Tree, sessions: SessionTable) {
    this.#tree = tree;
    this.#sessions = sessions;
    for (const node of tree.freshNodes()) {
      this.beforeChange(node);
    }
  }

  get dirtyCount(): number {
    return this.#changed.length + this.#dead.length + this.#sessions.changeCount;
  }
  get dirtyBytes(): number {
    return this.#changedBytes + this.#sessions.changeCount * SESSION_BYTES;
  }

  beforeChange(node: number): void {
    const mark = this.#tree.mark(node);
    if (mark === this.#generation) {
      return;
    }
    this.#captureIfFrozen(node);
    this.#mark(node);
  }

  /** A deleted node needs no mark, but the frozen set may still need its record. */
  beforeDelete(node: number): void {
    this.#captureIfFrozen(node);
    const record = this.#tree.record(node);
    if (record !== NO_RECORD) {
      this.#dead.push(record);
    }
  }

  created(node: number): void {
    this.#mark(node);
  }

  /** The data of a node that is marked in this generation grew by this many bytes. */
  grew(bytes: number): void {
    this.#changedBytes += Math.max(0, bytes);
  }

  freeze(blockBytes: number): void {
    assert(this.done, 'one capture at a time');
    this.#blockBytes = blockBytes;
    this.#rewriteSparse();
    this.#frozenNodes = this.#changed;
    this.#frozenDead = this.#dead;
    this.#frozenSessions = [...this.#sessions.takeChanges()];
    this.#nextNode = 0;
    this.#changed = [];
    this.#dead = [];
    this.#changedBytes = 0;
    this.#generation++;
  }

  /**
   * Begins a capture of everything that there is, for a checkpoint that continues none: what was
   * handed out before counts for nothing, and a capture under way is given up.
   */
  freezeAll(blockBytes: number): void {
    const tree = this.#tree;
    this.#blocks = new RecordBlocks();
    this.#ready = [];
    if (this.#writer.count > 0) this.#writer.take();
    this.#blockBytes = blockBytes;
    const nodes: number[] = [];
    for (let node = 0; node < tree.rowLimit; node++) {
      if (!tree.isLive(node)) continue;
      tree.setMark(node, this.#generation);
      tree.setRecord(node, NO_RECORD);
      nodes.push(node);
    }
    this.#sessions.takeChanges();
    this.#frozenNodes = nodes;
    this.#frozenSessions = [...this.#sessions.all()];
    this.#frozenDead = [];
    this.#nextNode = 0;
    this.#changed = [];
    this.#dead = [];
    this.#changedBytes = 0;
    this.#generation++;
  }

  get done(): boolean {
    return (
      this.#allWritten &&
      this.#ready.length === 0 &&
      !this.#blocks.hasTouched &&
      this.#frozenSessions.length === 0
    );
  }

  /**
   * Continues the capture by about `max` records, and stops earlier once they have `bytesMax`
   * bytes. Returns what is complete, which may be nothing, because a record block takes the records
   * of several slices.
   */
  captureSome(max: number, bytesMax: number): readonly CheckpointRecord[] {
    assert(max > 0 && bytesMax > 0, 'a slice has room for a record');
    const slice = new Slice(max, bytesMax);
    while (slice.hasRoom && this.#ready.length > 0) {
      slice.hand(this.#ready.splice(0, 1));
    }
    this.#captureDead(slice);
    this.#captureNodes(slice);
    while (slice.hasRoom) {
      const entry = this.#frozenSessions.pop();
      if (entry === undefined) break;
      const [id, session] = entry;
      const value = session === null ? null : encodeSession(session);
      slice.hand([{ key: sessionKey(id), value }]);
    }
    while (slice.hasRoom && this.#allWritten && this.#blocks.hasTouched) {
      slice.hand(this.#blocks.takeTouched());
    }
    return slice.handed;
  }

  /** Called at recovery, as is `loadBlock`. Both throw DamagedCheckpointError. */
  loadDead(key: Uint8Array, value: Uint8Array): void {
    this.#blocks.loadDead(key, value);
  }
  loadBlock(key: Uint8Array, value: Uint8Array): void {
    const { number, dead } = this.#blocks.loading(key);
    this.#blocks.loaded(number, this.#tree.load({ number, value, dead }), dead);
  }

  /** Ends recovery: what was loaded is what the checkpoint has. Throws DamagedCheckpointError. */
  loaded(): void {
    this.#blocks.finishLoad();
    this.#changed = [];
    this.#changedBytes = 0;
    this.#generation++;
  }

  /** Whether all records of the frozen state are in record blocks. */
  get #allWritten(): boolean {
    return (
      this.#frozenDead.length === 0 &&
      this.#nextNode === this.#frozenNodes.length &&
      this.#writer.count === 0
    );
  }

  /** Writes the record of a row that the frozen set still needs, before the row changes or goes. */
  #captureIfFrozen(node: number): void {
    const mark = this.#tree.mark(node);
    if (mark === this.#generation - 1 && mark !== CLEAN) {
      this.#write(node);
    }
  }

  #captureDead(slice: Slice): void {
    while (slice.hasRoom) {
      const record = this.#frozenDead.pop();
      if (record === undefined) break;
      this.#blocks.kill(record);
      slice.count(0);
    }
  }

  #captureNodes(slice: Slice): void {
    while (slice.hasRoom && this.#nextNode < this.#frozenNodes.length) {
      const node = this.#frozenNodes[this.#nextNode++] ?? 0;
      if (this.#tree.isLive(node) && this.#tree.mark(node) === this.#generation - 1) {
        slice.count(this.#write(node));
      }
    }
    if (this.#nextNode === this.#frozenNodes.length && this.#nextNode > 0) {
      this.#frozenNodes = [];
      this.#nextNode = 0;
      this.#closeBlock();
    }
  }

  /** Returns the size of the record in bytes. */
  #write(node: number): number {
    const tree = this.#tree;
    const before = tree.record(node);
    if (before !== NO_RECORD) {
      this.#blocks.kill(before);
    }
    tree.setMark(node, CLEAN);
    if (tree.recordBytes(node) >= LONE_RECORD_BYTES) {
      return this.#writeAlone(node);
    }
    if (this.#writer.count === 0) {
      this.#blockNumber = this.#blocks.takeNumber();
    }
    tree.setRecord(node, (this.#blockNumber << RECORD_BITS) | this.#writer.count);
    const bytes = tree.writeRecord(node, this.#writer);
    if (this.#writer.isFull(this.#blockBytes)) {
      this.#closeBlock();
    }
    return bytes;
  }

  #writeAlone(node: number): number {
    const number = this.#blocks.takeNumber();
    this.#tree.setRecord(node, number << RECORD_BITS);
    const bytes = this.#tree.writeRecord(node, this.#loneWriter);
    this.#hand(number, this.#loneWriter);
    return bytes;
  }

  #closeBlock(): void {
    if (this.#writer.count > 0) {
      this.#hand(this.#blockNumber, this.#writer);
    }
  }

  #hand(number: number, writer: BlockWriter): void {
    const { value, ...content } = writer.take();
    this.#blocks.add(number, content);
    this.#ready.push({ key: blockKey(number), value, hasChecksumRoom: true });
  }

  /** Frees disk space: the live znodes of blocks that are mostly dead count as changed. */
  #rewriteSparse(): void {
    const tree = this.#tree;
    const most = 2 * this.#changed.length + this.#dead.length + REWRITTEN_MIN;
    const bytesMost = 2 * this.#changedBytes + REWRITTEN_BYTES_MIN;
    while (this.#changed.length < most && this.#changedBytes < bytesMost) {
      const sparse = this.#blocks.takeSparse(this.#blockBytes);
      if (sparse === null) {
        return;
      }
      const { nodes } = sparse;
      for (let index = 0; index < nodes.length; index++) {
        const node = nodes[index] ?? 0;
        if (tree.isLive(node) && tree.record(node) === sparse.first + index) {
          this.beforeChange(node);
        }
      }
    }
  }

  #mark(node: number): void {
    this.#tree.setMark(node, this.#generation);
    this.#changed.push(node);
    this.#changedBytes += this.#tree.recordBytes(node);
  }
}

/**
 * The work of one slice, bounded by a number of records and by bytes, whichever is reached first.
 */
class Slice {
  readonly handed: CheckpointRecord[] = [];
  readonly #max: number;
  readonly #bytesMax: number;
  #count = 0;
  #bytes = 0;

  constructor(max: number, bytesMax: number) {
    this.#max = max;
    this.#bytesMax = bytesMax;
  }

  get hasRoom(): boolean {
    return this.#count < this.#max && this.#bytes < this.#bytesMax;
  }

  count(bytes: number): void {
    this.#count++;
    this.#bytes += bytes;
  }

  hand(records: readonly CheckpointRecord[]): void {
    for (const record of records) {
      this.handed.push(record);
      this.count(record.key.length + (record.value?.length ?? 0));
    }
  }
}
