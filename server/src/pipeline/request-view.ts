/**
 * Reads a plain request in place, if that is enough to decide it: a setData, or a create of a
 * persistent znode with the usual ACL, of or below a znode of which nothing else is in flight.
 *
 * Nearly every write is one. No object is made for it: each is written over the one before it. What
 * is not plain is left to the codec, and is not judged here. Called by Prepare.
 */
import type { JuteReader } from '@rookery/protocol';
import { CreateView, locateFields, locateName, SetDataView, WorldAcls } from '../state/op-view.js';
import type { Overlay } from './overlay.js';

/** The size of a list that allows everybody something. */
const WORLD_ACL_BYTES = 27;

export class RequestView {
  readonly #overlay: Overlay;
  readonly #setData = new SetDataView();
  readonly #create = new CreateView();
  readonly #acls = new WorldAcls();

  constructor(overlay: Overlay) {
    this.#overlay = overlay;
  }

  /** Returns null if it is not plain. The reader stays where it is. */
  setData(reader: JuteReader): SetDataView | null {
    const op = this.#setData;
    const at = reader.position;
    const end = at + reader.remaining;
    const next = locateFields(op, reader, { at, end });
    if (next < 0 || next + 4 > end) return null;
    op.version = reader.view.getInt32(next);
    return this.#overlay.locate(op) ? op : null;
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
    if (!locateName(op) || !this.#overlay.locateCreate(op)) return null;
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
