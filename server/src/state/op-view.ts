/**
 * Reads a setData or a create in place, within the bytes of its request or its transaction.
 *
 * It has the fields of the operation, but makes path and data only when they are read: a change of
 * the tree finds the znode by the bytes of its path and copies the data from where they are. One
 * object serves one request or transaction after the other (prepare.ts, txn-codec.ts), so
 * it must not be kept beyond the call that received it. That of a request is released after the
 * request, that of a transaction after its batch.
 */
import { type Int64, type JuteReader, MarshallingError } from '@rookery/protocol';
import { NO_BYTES, NO_VIEW, PathView } from './memory/path-view.js';
import type { DataRange } from './memory/payloads.js';
import type { Acl, CreateOp, NodeMode, SetDataOp } from './txn.js';

const NONE = -1;
const SLASH = 0x2f;
const DOT = 0x2e;
/** The ASCII characters that a path may contain. */
const CHAR_MIN = 0x20;
const CHAR_MAX = 0x7e;
const PERMS_KNOWN = 32;
const NO_ACL: readonly Acl[] = [];

export abstract class OpView extends PathView implements DataRange {
  source: Buffer = NO_BYTES;
  sourceView: DataView = NO_VIEW;
  dataStart = 0;
  dataBytes = NONE;

  get data(): Uint8Array | null {
    if (this.dataBytes < 0) return null;
    return this.source.subarray(this.dataStart, this.dataStart + this.dataBytes);
  }

  /** Whether path and data are adjacent, each behind its length, as they were read. */
  get isWhole(): boolean {
    return this.source === this.bytes;
  }

  /** Drops its bytes: an operation that was kept by mistake has an empty path and no data. */
  release(): void {
    this.bytes = NO_BYTES;
    this.view = NO_VIEW;
    this.pathStart = 0;
    this.pathEnd = 0;
    this.source = NO_BYTES;
    this.sourceView = NO_VIEW;
    this.dataStart = 0;
    this.dataBytes = NONE;
  }
}

export class SetDataView extends OpView implements SetDataOp {
  readonly kind = 'setData';
  /** In a request: the version that the client expects, or -1 for any. */
  expected = 0;
  /** The version of the znode afterwards, once it is decided. */
  version = 0;
}

export class CreateView extends OpView implements CreateOp {
  readonly kind = 'create';
  /** In a request: what the client asks for; a time to live only with createTtl. */
  flags = 0;
  askedAcl: readonly Acl[] | null = null;
  askedTtlMs: Int64 = 0;

  /** What is stored, once it is decided; until then, `opcode` is the one of the request. */
  acl = NO_ACL;
  mode: NodeMode = 'persistent';
  ttlMs = 0;
  opcode = 0;

  /** The index after the last slash of the path. */
  nameStart = 0;
  /** The number of slashes in the path: of its segments, unless it is the root. */
  depth = 0;
  /**
   * The path is a legal ASCII path of which no segment begins with a dot. Of all others only a
   * string tells whether they are legal.
   */
  isPlain = false;

  override get isAscii(): boolean {
    return this.isPlain || super.isAscii;
  }

  override release(): void {
    super.release();
    this.nameStart = 0;
    this.depth = 0;
    this.isPlain = false;
  }

  override setPath(path: string): void {
    super.setPath(path);
    this.locateName();
  }

  /** Sets what is known of the path, once it is at its place. */
  locateName(): void {
    const { bytes, pathStart, pathEnd } = this;
    let nameStart = pathStart;
    let depth = 0;
    let isPlain = bytes[pathStart] === SLASH && bytes[pathEnd - 1] !== SLASH;
    for (let at = pathStart; at < pathEnd; at++) {
      const unit = bytes[at] ?? 0;
      if (unit < CHAR_MIN || unit > CHAR_MAX) isPlain = false;
      if (at === nameStart && (unit === DOT || (unit === SLASH && depth > 0))) isPlain = false;
      if (unit === SLASH) {
        nameStart = at + 1;
        depth++;
      }
    }
    this.nameStart = nameStart;
    this.depth = depth;
    this.isPlain = isPlain;
  }
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

/** Reads path and data, each a length and its content. Throws MarshallingError. */
export function readPathAndData(op: OpView, reader: JuteReader): void {
  op.bytes = reader.bytes;
  op.view = reader.view;
  op.source = op.bytes;
  op.sourceView = op.view;
  const pathBytes = reader.skipBuffer();
  if (pathBytes < 0) throw new MarshallingError('a path is null');
  op.pathEnd = reader.position;
  op.pathStart = op.pathEnd - pathBytes;
  op.dataBytes = reader.skipBuffer();
  op.dataStart = reader.position - Math.max(0, op.dataBytes);
}
