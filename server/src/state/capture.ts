/**
 * Which znodes and sessions changed since the last checkpoint, and their exact records as of the
 * zxid at which a capture began, handed out in slices while changes go on.
 *
 * Each row carries the generation in which it was last changed. `freeze` starts a new generation:
 * rows marked with the one before and not captured yet belong to the frozen set. Before such a row
 * changes, its record is made first (copy before change). Deleted paths are kept by name, except
 * those created since the last freeze, of which no checkpoint knows. Called by ReplicatedState:
 * `beforeChange` before every change of a row, the others after it.
 *
 * Order of what is handed out: deletions first, because a path may have been created again.
 */
import { assert, type Zxid } from '@rookery/protocol';
import { encodeNode, nodeKey, nodeRecordBytes } from './node-record.js';
import type { Session } from './session.js';
import { encodeSession, sessionKey } from './session-record.js';
import type { SessionTable } from './session-table.js';
import type { Tree } from './tree.js';
import type { SessionId } from './txn.js';

/** One record of a checkpoint; a null value deletes. Where a key comes twice, the later counts. */
export interface CheckpointRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

const CLEAN = 0;
const SESSION_BYTES = 33;

export class Capture {
  readonly #tree: Tree;
  readonly #sessions: SessionTable;
  #generation = 1;
  /** Rows marked in this generation; may name a row twice, or one that is free again. */
  #changed: number[] = [];
  #deleted: string[] = [];
  #changedBytes = 0;
  /** Nodes created after this are in no checkpoint and in no capture. */
  #capturedZxid: Zxid = 0;

  #frozenDeleted: string[] = [];
  #early: CheckpointRecord[] = [];
  #frozenNodes: number[] = [];
  #frozenSessions: (readonly [SessionId, Session | null])[] = [];
  #nextNode = 0;

  constructor(tree: Tree, sessions: SessionTable) {
    this.#tree = tree;
    this.#sessions = sessions;
    for (const node of tree.freshNodes()) {
      this.beforeChange(node);
    }
  }

  get dirtyCount(): number {
    return this.#changed.length + this.#deleted.length + this.#sessions.changeCount;
  }
  get dirtyBytes(): number {
    return this.#changedBytes + this.#sessions.changeCount * SESSION_BYTES;
  }

  beforeChange(node: number): void {
    const mark = this.#tree.mark(node);
    if (mark === this.#generation) {
      return;
    }
    this.beforeDelete(node);
    this.#mark(node);
  }

  /** A node that goes needs no mark, but the frozen set may still want it. */
  beforeDelete(node: number): void {
    const mark = this.#tree.mark(node);
    if (mark === this.#generation - 1 && mark !== CLEAN) {
      this.#early.push(this.#record(node));
      this.#tree.setMark(node, CLEAN);
    }
  }

  created(node: number): void {
    this.#mark(node);
  }

  /** The data of a node marked in this generation became this much larger. */
  grew(bytes: number): void {
    this.#changedBytes += Math.max(0, bytes);
  }

  deleted(path: string, czxid: Zxid): void {
    if (czxid <= this.#capturedZxid) {
      this.#deleted.push(path);
      this.#changedBytes += path.length;
    }
  }

  freeze(zxid: Zxid): void {
    assert(this.done, 'one capture at a time');
    this.#frozenNodes = this.#changed;
    this.#frozenDeleted = this.#deleted;
    this.#frozenSessions = [...this.#sessions.takeChanges()];
    this.#nextNode = 0;
    this.#changed = [];
    this.#deleted = [];
    this.#changedBytes = 0;
    this.#generation++;
    this.#capturedZxid = zxid;
  }

  get done(): boolean {
    return (
      this.#frozenDeleted.length === 0 &&
      this.#early.length === 0 &&
      this.#nextNode === this.#frozenNodes.length &&
      this.#frozenSessions.length === 0
    );
  }

  /**
   * At least one record of the frozen state, unless there is none left; at most `max`, and no more
   * once they have `bytesMax` bytes: records and paths may be of any size.
   */
  captureSome(max: number, bytesMax: number): readonly CheckpointRecord[] {
    assert(max > 0 && bytesMax > 0, 'a slice has room for a record');
    const slice = new Slice(max, bytesMax);
    while (slice.hasRoom && this.#frozenDeleted.length > 0) {
      slice.add({ key: nodeKey(this.#frozenDeleted.pop() ?? ''), value: null });
    }
    while (slice.hasRoom) {
      const record = this.#early.pop();
      if (record === undefined) break;
      slice.add(record);
    }
    this.#captureNodes(slice);
    while (slice.hasRoom) {
      const entry = this.#frozenSessions.pop();
      if (entry === undefined) break;
      const [id, session] = entry;
      const value = session === null ? null : encodeSession(session);
      slice.add({ key: sessionKey(id), value });
    }
    return slice.records;
  }

  /** After recovery: what was loaded is what the checkpoint has. */
  loaded(zxid: Zxid): void {
    this.#changed = [];
    this.#changedBytes = 0;
    this.#generation++;
    for (const node of this.#tree.freshNodes()) {
      this.#tree.setMark(node, CLEAN);
    }
    this.#capturedZxid = zxid;
  }

  #captureNodes(slice: Slice): void {
    while (slice.hasRoom && this.#nextNode < this.#frozenNodes.length) {
      const node = this.#frozenNodes[this.#nextNode++] ?? 0;
      if (this.#tree.isLive(node) && this.#tree.mark(node) === this.#generation - 1) {
        slice.add(this.#record(node));
        this.#tree.setMark(node, CLEAN);
      }
    }
    if (this.#nextNode === this.#frozenNodes.length && this.#nextNode > 0) {
      this.#frozenNodes = [];
      this.#nextNode = 0;
    }
  }

  #mark(node: number): void {
    this.#tree.setMark(node, this.#generation);
    this.#changed.push(node);
    this.#changedBytes += nodeRecordBytes(this.#tree, node);
  }

  #record(node: number): CheckpointRecord {
    return { key: nodeKey(this.#tree.path(node)), value: encodeNode(this.#tree, node) };
  }
}

/** Records up to a number and a size, whichever is reached first. */
class Slice {
  readonly records: CheckpointRecord[] = [];
  readonly #max: number;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(max: number, bytesMax: number) {
    this.#max = max;
    this.#bytesMax = bytesMax;
  }

  get hasRoom(): boolean {
    return this.records.length < this.#max && this.#bytes < this.#bytesMax;
  }

  add(record: CheckpointRecord): void {
    this.records.push(record);
    this.#bytes += record.key.length + (record.value?.length ?? 0);
  }
}
