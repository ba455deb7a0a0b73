/**
 * Reads the transactions of proposals that are to be applied, one after the other.
 *
 * The two kinds that nearly all of them are, setData and create of a znode with an ASCII path and
 * the usual ACL, are read in place (op-view.ts): no object, no string and no view is made for them.
 * All others, and malformed ones, are left to the codec, which defines the layout and checks every
 * field. The driver calls it.
 */
import { JuteReader, type ProposalCursor } from '@rookery/protocol';
import { NODE_MODES } from './modes.js';
import { CreateView, locateFields, locateName, SetDataView, WorldAcls } from './op-view.js';
import type { Txn, TxnOp } from './txn.js';
import { KIND, ORIGIN_BITS, ORIGIN_MAX, readTxn, WORLD_ANYONE } from './txn-codec.js';

const COUNTER_SPAN = 0x1_0000_0000;
const HIGH_MAX = 1 << 21;
/** Head, request, session and time; the length of the path follows. */
const PATH_AT = 28;
/** The bytes without path and data: the two lengths, and what follows them. */
const SET_DATA_BYTES = PATH_AT + 4 + 4 + 4;
const CREATE_TAIL_BYTES = 4 + 4 + 4 + 8 + 4;
const CREATE_BYTES = PATH_AT + 4 + 4 + CREATE_TAIL_BYTES;
const NONE = -1;

export class TxnViews {
  readonly #reader = new JuteReader(new Uint8Array(0));
  readonly #setData = new SetDataView();
  readonly #create = new CreateView();
  readonly #txn = { origin: 0, request: 0, session: 0, time: 0, op: this.#setData as TxnOp };
  readonly #acls = new WorldAcls();
  #view = this.#reader.view;

  /**
   * Returns the transaction of the proposal at the cursor; it is valid until the next call. Throws
   * MarshallingError.
   */
  txnOf(proposal: ProposalCursor): Txn {
    const reader = this.#reader;
    proposal.pointAtBody(reader);
    const at = reader.position;
    const end = at + reader.remaining;
    this.#view = reader.view;
    const kind = end - at < SET_DATA_BYTES ? 0 : this.#view.getInt32(at) >> ORIGIN_BITS;
    const isView =
      (kind === KIND.setData && this.#locateSetData(at, end)) ||
      (kind === KIND.create && this.#locateCreate(at, end));
    return isView && this.#readHead(at, kind) ? this.#txn : readTxn(reader);
  }

  #readHead(at: number, kind: number): boolean {
    const txn = this.#txn;
    txn.origin = this.#view.getInt32(at) & ORIGIN_MAX;
    txn.request = this.#natural(at + 4);
    txn.session = this.#natural(at + 12);
    txn.time = this.#natural(at + 20);
    txn.op = kind === KIND.create ? this.#create : this.#setData;
    return txn.request >= 0 && txn.session >= 0 && txn.time >= 0;
  }

  #locateSetData(at: number, end: number): boolean {
    const op = this.#setData;
    const next = locateFields(op, this.#reader, { at: at + PATH_AT, end });
    if (next === NONE || next + 4 !== end) return false;
    op.version = this.#view.getInt32(next);
    return true;
  }

  #locateCreate(at: number, end: number): boolean {
    if (end - at < CREATE_BYTES) return false;
    const op = this.#create;
    const next = locateFields(op, this.#reader, { at: at + PATH_AT, end });
    if (next === NONE || next + CREATE_TAIL_BYTES !== end) return false;
    const view = this.#view;
    if (view.getInt32(next) !== WORLD_ANYONE) return false;
    const mode = NODE_MODES[view.getInt32(next + 8)];
    const ttlMs = this.#natural(next + 12);
    if (mode === undefined || ttlMs < 0 || !locateName(op)) return false;
    op.acl = this.#acls.of(view.getInt32(next + 4));
    op.mode = mode;
    op.ttlMs = ttlMs;
    op.opcode = view.getInt32(next + 20);
    return true;
  }

  /** Returns a negative number if the long is not a safe integer. */
  #natural(at: number): number {
    const high = this.#view.getInt32(at);
    return high < HIGH_MAX ? high * COUNTER_SPAN + this.#view.getUint32(at + 4) : NONE;
  }
}
