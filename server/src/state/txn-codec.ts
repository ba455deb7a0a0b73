/**
 * The bytes of a transaction: the body of a proposal, in the log and between members.
 *
 * msgpack arrays of a fixed order, the kind as a small number first; the most common ACL, one
 * entry for world:anyone, is its permission bits alone. What is decoded is checked field by field,
 * because bytes from a disk or a peer are not to be trusted. Kinds are never renumbered.
 */
import { MarshallingError, unreachable } from '@rookery/protocol';
import { Packr } from 'msgpackr';
import { MODE, NODE_MODES } from './modes.js';
import { PASSWORD_BYTES } from './session.js';
import type { Acl, NodeOp, Txn, TxnOp } from './txn.js';

const KIND = {
  create: 1,
  delete: 2,
  setData: 3,
  setAcl: 4,
  check: 5,
  multi: 6,
  error: 7,
  createSession: 8,
  closeSession: 9,
} as const;

/** Holds nothing between calls but scratch memory: structures are plain arrays, never learned. */
const packr = new Packr({ useRecords: false, copyBuffers: false, int64AsType: 'number' });

export function encodeTxn(txn: Txn): Uint8Array {
  const fields: unknown[] = [KIND[txn.op.kind], txn.origin, txn.request, txn.session, txn.time];
  pushOp(fields, txn.op);
  return packr.pack(fields);
}

/** Data and passwords are views of `bytes`. Throws MarshallingError. */
export function decodeTxn(bytes: Uint8Array): Txn {
  let fields: unknown;
  try {
    fields = packr.unpack(bytes);
  } catch (cause) {
    throw new MarshallingError('a transaction is no msgpack', { cause });
  }
  if (!Array.isArray(fields)) {
    throw new MarshallingError('a transaction is no array');
  }
  const reader = new FieldReader(fields);
  const kind = reader.count();
  const origin = reader.count();
  const request = reader.count();
  const session = reader.count();
  const time = reader.count();
  const op = readOp(kind, reader);
  reader.end();
  return { origin, request, session, time, op };
}

function pushOp(fields: unknown[], op: TxnOp): void {
  switch (op.kind) {
    case 'create':
      fields.push(op.path, op.data, packAcl(op.acl), MODE[op.mode], op.ttlMs, op.opcode);
      return;
    case 'delete':
    case 'check':
      fields.push(op.path);
      return;
    case 'setData':
      fields.push(op.path, op.data, op.version);
      return;
    case 'setAcl':
      fields.push(op.path, packAcl(op.acl), op.version);
      return;
    case 'multi':
      for (const part of op.ops) {
        const partFields: unknown[] = [KIND[part.kind]];
        pushOp(partFields, part);
        fields.push(partFields);
      }
      return;
    case 'error':
      fields.push(op.code, op.codes);
      return;
    case 'createSession':
      fields.push(op.timeoutMs, op.password);
      return;
    case 'closeSession':
      return;
    default:
      unreachable(op);
  }
}

function readOp(kind: number, reader: FieldReader): TxnOp {
  switch (kind) {
    case KIND.multi: {
      const ops: NodeOp[] = [];
      while (!reader.atEnd) {
        const part = new FieldReader(reader.array());
        ops.push(readNodeOp(part.count(), part));
        part.end();
      }
      return { kind: 'multi', ops };
    }
    case KIND.error:
      return { kind: 'error', code: reader.int(), codes: reader.intsOrNull() };
    case KIND.createSession:
      return { kind: 'createSession', timeoutMs: reader.count(), password: reader.password() };
    case KIND.closeSession:
      return { kind: 'closeSession' };
    default:
      return readNodeOp(kind, reader);
  }
}

function readNodeOp(kind: number, reader: FieldReader): NodeOp {
  switch (kind) {
    case KIND.create: {
      const path = reader.text();
      const data = reader.bytesOrNull();
      const acl = reader.acl();
      const mode = NODE_MODES[reader.count()];
      if (mode === undefined) {
        throw new MarshallingError('a transaction creates a node of no known mode');
      }
      return { kind: 'create', path, data, acl, mode, ttlMs: reader.count(), opcode: reader.int() };
    }
    case KIND.delete:
      return { kind: 'delete', path: reader.text() };
    case KIND.setData: {
      const path = reader.text();
      return { kind: 'setData', path, data: reader.bytesOrNull(), version: reader.int() };
    }
    case KIND.setAcl:
      return { kind: 'setAcl', path: reader.text(), acl: reader.acl(), version: reader.int() };
    case KIND.check:
      return { kind: 'check', path: reader.text() };
    default:
      throw new MarshallingError(`a transaction has the unknown kind ${kind}`);
  }
}

function packAcl(acl: readonly Acl[]): number | readonly unknown[] {
  const first = acl[0];
  if (acl.length === 1 && first?.scheme === 'world' && first.id === 'anyone') {
    return first.perms;
  }
  return acl.flatMap(({ perms, scheme, id }) => [perms, scheme, id]);
}

/** Takes the fields of one array in order and checks the type of each. */
class FieldReader {
  readonly #fields: readonly unknown[];
  #next = 0;

  constructor(fields: readonly unknown[]) {
    this.#fields = fields;
  }

  get atEnd(): boolean {
    return this.#next >= this.#fields.length;
  }
  end(): void {
    if (!this.atEnd) {
      throw this.#wrong('the end');
    }
  }

  /** A whole number that is not negative. */
  count(): number {
    const value = this.#fields[this.#next++];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw this.#wrong('a count');
    }
    return value;
  }
  int(): number {
    const value = this.#fields[this.#next++];
    if (!isInt(value)) {
      throw this.#wrong('an int');
    }
    return value;
  }
  intsOrNull(): readonly number[] | null {
    const value = this.#fields[this.#next++];
    if (value !== null && !(Array.isArray(value) && value.every(isInt))) {
      throw this.#wrong('a list of ints');
    }
    return value;
  }
  text(): string {
    const value = this.#fields[this.#next++];
    if (typeof value !== 'string') {
      throw this.#wrong('a string');
    }
    return value;
  }
  bytesOrNull(): Uint8Array | null {
    const value = this.#fields[this.#next++];
    if (value !== null && !(value instanceof Uint8Array)) {
      throw this.#wrong('bytes');
    }
    return value;
  }
  password(): Uint8Array {
    const value = this.bytesOrNull();
    if (value === null || value.length !== PASSWORD_BYTES) {
      throw this.#wrong('a password');
    }
    return value;
  }
  array(): readonly unknown[] {
    const value = this.#fields[this.#next++];
    if (!Array.isArray(value)) {
      throw this.#wrong('an array');
    }
    return value;
  }
  acl(): readonly Acl[] {
    const value = this.#fields[this.#next];
    if (typeof value === 'number') {
      return [{ perms: this.int(), scheme: 'world', id: 'anyone' }];
    }
    const entries = new FieldReader(this.array());
    const acl: Acl[] = [];
    while (!entries.atEnd) {
      acl.push({ perms: entries.int(), scheme: entries.text(), id: entries.text() });
    }
    return acl;
  }

  #wrong(expected: string): MarshallingError {
    return new MarshallingError(`field ${this.#next - 1} of a transaction is not ${expected}`);
  }
}

function isInt(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}
