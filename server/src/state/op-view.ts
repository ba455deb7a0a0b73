/**
 * A setData or a create in place, within the bytes of its transaction or of its request. Nearly all
 * writes are one of the two.
 *
 * It has the fields of the operation, but makes path and data only when they are read: a change of
 * the tree finds the znode by the bytes of its path and copies the data from where they are. One
 * object serves one transaction after the other (txn-codec.ts, prepare.ts), so nobody may keep it.
 * The path of a create is ASCII; that of a setData need not be. `pathHashOf` and `beginsWith` take
 * an operation in place or one whose path is a string.
 */
import type { JuteReader } from '@rookery/protocol';
import { hashPath, hashPathBytes } from './hash.js';
import type { Acl, CreateOp, NodeMode, SetDataOp } from './txn.js';

const NONE = -1;
const SLASH = 0x2f;
const DOT = 0x2e;
/** The ASCII characters that a path may contain. */
const CHAR_MIN = 0x20;
const CHAR_MAX = 0x7e;
const PERMS_KNOWN = 32;
/** The size of a list in a request that allows everybody something. */
const WORLD_ACL_BYTES = 27;
const NO_ACL: readonly Acl[] = [];
const NO_BYTES = Buffer.alloc(0);
const NO_VIEW = new DataView(new ArrayBuffer(0));

/** Names the znode of a change. Of an operation in place, `path` is made when it is read. */
export interface WithPath {
  readonly path: string;
}

/** The place of the data. */
export interface DataRange {
  readonly bytes: Buffer;
  /** A DataView of the same bytes. */
  readonly view: DataView;
  readonly dataStart: number;
  /** -1 for null. */
  readonly dataBytes: number;
}

export abstract class OpView implements DataRange {
  bytes: Buffer = NO_BYTES;
  view: DataView = NO_VIEW;
  pathStart = 0;
  pathEnd = 0;
  dataStart = 0;
  dataBytes = -1;
  /** The znode, once it was found: while the operation is decided, or while it is applied. */
  node = -1;

  get path(): string {
    return this.bytes.toString('utf8', this.pathStart, this.pathEnd);
  }
  get data(): Uint8Array | null {
    if (this.dataBytes < 0) return null;
    return this.bytes.subarray(this.dataStart, this.dataStart + this.dataBytes);
  }
}

export class SetDataView extends OpView implements SetDataOp {
  readonly kind = 'setData';
  /**
   * In a request: the version that the client expects, or -1 for any. Once it is decided, and in a
   * transaction: the version of the znode afterwards.
   */
  version = 0;
}

export class CreateView extends OpView implements CreateOp {
  readonly kind = 'create';
  acl = NO_ACL;
  mode: NodeMode = 'persistent';
  ttlMs = 0;
  opcode = 0;
  /** The index after the last slash of the path. */
  nameStart = 0;
  /** The number of segments of the path. */
  depth = 0;
  /** The hash of the path for the index, once it was searched for. */
  hash = 0;
  /** While the operation is decided: the znode that gets a child. */
  parent = -1;
}

/** ACL lists that allow everybody something, each made once. */
export class WorldAcls {
  readonly #acls: (readonly Acl[])[] = [];

  of(perms: number): readonly Acl[] {
    const known = this.#acls[perms];
    if (known !== undefined) return known;
    const acl = [{ perms, scheme: 'world', id: 'anyone' }];
    if (perms >= 0 && perms < PERMS_KNOWN) this.#acls[perms] = acl;
    return acl;
  }
}

/**
 * Finds path and data, which are in the reader's bytes from `at` on: each a length and its content.
 * Returns where they end, or -1 if the path is null, a length is invalid or a field reaches beyond
 * `end`.
 */
export function locateFields(
  op: OpView,
  reader: JuteReader,
  place: { readonly at: number; readonly end: number },
): number {
  const { at, end } = place;
  if (at + 8 > end) return NONE;
  const { view } = reader;
  const pathBytes = view.getInt32(at);
  const pathStart = at + 4;
  const dataAt = pathStart + pathBytes;
  if (pathBytes < 0 || dataAt + 4 > end) return NONE;
  const dataBytes = view.getInt32(dataAt);
  const dataEnd = dataAt + 4 + Math.max(0, dataBytes);
  if (dataBytes < NONE || dataEnd > end) return NONE;
  op.bytes = reader.bytes;
  op.view = view;
  op.pathStart = pathStart;
  op.pathEnd = dataAt;
  op.dataStart = dataAt + 4;
  op.dataBytes = dataBytes;
  return dataEnd;
}

/**
 * Finds the name in the path if that is a legal ASCII path of which no segment begins with a dot.
 * Returns false for all others, because only a string tells whether those are legal.
 */
export function locateName(op: CreateView): boolean {
  const { bytes, pathStart, pathEnd } = op;
  let nameStart = pathEnd;
  let depth = 0;
  for (let at = pathStart; at < pathEnd; at++) {
    const unit = bytes[at] ?? 0;
    if (unit < CHAR_MIN || unit > CHAR_MAX) return false;
    if (at === nameStart && (unit === SLASH || unit === DOT)) return false;
    if (unit === SLASH) {
      nameStart = at + 1;
      depth++;
    }
  }
  op.nameStart = nameStart;
  op.depth = depth;
  return nameStart < pathEnd && bytes[pathStart] === SLASH;
}

/** The hash of its path, as the digest uses it. */
export function pathHashOf(op: WithPath): number {
  if (!(op instanceof OpView)) return hashPath(op.path);
  return hashPathBytes(op.view, op.pathStart, op.pathEnd);
}

/** Whether its path begins with `text`, which is ASCII. */
export function beginsWith(op: WithPath, text: string): boolean {
  if (!(op instanceof OpView)) return op.path.startsWith(text);
  if (op.pathEnd - op.pathStart < text.length) return false;
  for (let i = 0; i < text.length; i++) {
    if (op.bytes[op.pathStart + i] !== text.charCodeAt(i)) return false;
  }
  return true;
}

/**
 * Reads plain requests in place: a setData, or a create of a persistent znode with the usual ACL.
 * Each result is the same object as the one before it. What is not plain is left to the codec, and
 * is not judged here.
 */
export class RequestViews {
  readonly #setData = new SetDataView();
  readonly #create = new CreateView();
  readonly #acls = new WorldAcls();

  /** Returns null if it is not plain. The reader stays where it is. */
  setData(reader: JuteReader): SetDataView | null {
    const op = this.#setData;
    const at = reader.position;
    const end = at + reader.remaining;
    const next = locateFields(op, reader, { at, end });
    if (next < 0 || next + 4 > end) return null;
    op.version = reader.view.getInt32(next);
    return op;
  }

  /** Like `setData`. */
  create(reader: JuteReader, opcode: number): CreateView | null {
    const op = this.#create;
    const at = reader.position;
    const end = at + reader.remaining;
    const next = locateFields(op, reader, { at, end });
    if (next < 0 || next + WORLD_ACL_BYTES + 4 > end) return null;
    const { view } = reader;
    if (!isWorldAcl(view, next) || view.getInt32(next + WORLD_ACL_BYTES) !== 0) return null;
    if (!locateName(op)) return null;
    op.acl = this.#acls.of(view.getInt32(next + 4));
    op.opcode = opcode;
    return op;
  }
}

/** Whether it is a vector of one entry: its permissions, `world` and `anyone`. */
function isWorldAcl(view: DataView, at: number): boolean {
  if (view.getInt32(at) !== 1 || view.getInt32(at + 8) !== 5) return false;
  if (view.getInt32(at + 12) !== 0x776f726c || view.getInt32(at + 16) !== 0x64000000) return false;
  return view.getInt32(at + 20) === 0x06616e79 && view.getInt32(at + 23) === 0x796f6e65;
}
