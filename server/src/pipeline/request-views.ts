/**
 * Reads the writes of clients in place, for TxnPreparer.
 *
 * A setData or a create of a request of its own, which nearly all writes are, is read into one
 * object that serves each request. The operations of a multi get objects of their own, because all
 * of them are decided before the first is encoded. Whatever the bytes are, a read returns an
 * operation or throws MarshallingError.
 */
import {
  Acl as AclEntry,
  type JuteReader,
  MarshallingError,
  OpCode,
  PathVersionRequest,
  readOperations,
  readString,
  type SetAclRequest,
} from '@rookery/protocol';
import { CreateView, readPathAndData, SetDataView, WorldAcls } from '../state/op-view.js';
import type { Acl } from '../state/txn.js';

/** The size of a list that allows everybody something. */
const WORLD_ACL_BYTES = 27;
/**
 * The ACL entries of one request. No list with more of them can be stored (acl-form.ts), and with
 * this many a request takes some 20 ms.
 */
const ACL_ENTRIES_MAX = 1 << 14;

/** An operation of a multi. */
export type AskedOp =
  | CreateView
  | SetDataView
  | { readonly kind: 'delete' | 'check'; readonly request: PathVersionRequest };

export class RequestViews {
  readonly #setData = new SetDataView();
  readonly #create = new CreateView();
  readonly #acls = new WorldAcls();
  /** The ACL entries that the request may still have. */
  #entriesLeft = ACL_ENTRIES_MAX;

  /** Releases the objects that serve each request; called once the last one is encoded. */
  release(): void {
    this.#entriesLeft = ACL_ENTRIES_MAX;
    this.#setData.release();
    this.#create.release();
  }

  /** The result is valid until `release`, unless it is the caller's own `op`. */
  setData(reader: JuteReader, op = this.#setData): SetDataView {
    readPathAndData(op, reader);
    op.expected = reader.int();
    return op;
  }

  /** Like `setData`. */
  create(reader: JuteReader, opcode: number, op = this.#create): CreateView {
    readPathAndData(op, reader);
    op.locateName();
    op.opcode = opcode;
    op.askedAcl = this.#acl(reader);
    op.flags = reader.int();
    op.askedTtlMs = opcode === OpCode.createTtl ? reader.long() : 0;
    return op;
  }

  setAcl(reader: JuteReader): SetAclRequest {
    return { path: readString(reader), acl: this.#entries(reader), version: reader.int() };
  }

  /** The operations of a multi, at most one more than `countMax`. */
  multi(reader: JuteReader, countMax: number): readonly AskedOp[] {
    return readOperations(reader, (from, opcode) => this.#operation(from, opcode), countMax);
  }

  #operation(reader: JuteReader, opcode: number): AskedOp {
    switch (opcode) {
      case OpCode.create:
      case OpCode.create2:
      case OpCode.createContainer:
      case OpCode.createTtl:
        return this.create(reader, opcode, new CreateView());
      case OpCode.setData:
        return this.setData(reader, new SetDataView());
      case OpCode.delete:
        return { kind: 'delete', request: PathVersionRequest.read(reader) };
      case OpCode.check:
        return { kind: 'check', request: PathVersionRequest.read(reader) };
      default:
        throw new MarshallingError(`operation ${opcode} is not allowed in a multi`);
    }
  }

  /** Nearly every create has only the world in its list. */
  #acl(reader: JuteReader): readonly Acl[] | null {
    const { view, position: at } = reader;
    if (reader.remaining < WORLD_ACL_BYTES || !isWorldAcl(view, at)) {
      return this.#entries(reader);
    }
    reader.skip(WORLD_ACL_BYTES);
    return this.#acls.of(view.getInt32(at + 4));
  }

  /** Too many entries are skipped, and read as null, which is no legal list either. */
  #entries(reader: JuteReader): readonly Acl[] | null {
    const count = reader.count();
    if (count === -1) return null;
    this.#entriesLeft -= count;
    const entries: Acl[] = [];
    for (let left = count; left > 0; left--) {
      if (this.#entriesLeft < 0) skipAclEntry(reader);
      else entries.push(AclEntry.read(reader));
    }
    return this.#entriesLeft < 0 ? null : entries;
  }
}

function skipAclEntry(reader: JuteReader): void {
  reader.int();
  reader.skipBuffer();
  reader.skipBuffer();
}

/** Whether it is a vector of one entry: its permissions, `world` and `anyone`. */
function isWorldAcl(view: DataView, at: number): boolean {
  if (view.getInt32(at) !== 1 || view.getInt32(at + 8) !== 5) return false;
  if (view.getInt32(at + 12) !== 0x776f726c || view.getInt32(at + 16) !== 0x64000000) return false;
  return view.getInt32(at + 20) === 0x06616e79 && view.getInt32(at + 23) === 0x796f6e65;
}
