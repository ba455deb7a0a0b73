/**
 * multi and multiRead: a list of operations in one request, a list of results in one reply.
 *
 * On the wire each is behind a MultiHeader, and a last header with `done` ends the list. A failed
 * operation is a header of type -1 and the error twice. Which operations a request may hold is
 * decided here; anything else is malformed.
 */

import { unreachable } from '../basics/assert.js';
import { type Codec, readString, string, vector } from '../jute/codec.js';
import { MarshallingError } from '../jute/errors.js';
import type { JuteReader } from '../jute/reader.js';
import type { JuteWriter } from '../jute/writer.js';
import {
  CreateRequest,
  PathVersionRequest,
  PathWatchRequest,
  SetDataRequest,
  Stat,
} from './hot-records.js';
import { OpCode } from './opcodes.js';
import { CreateTtlRequest } from './records.js';

const NO_TYPE = -1;
const CHILDREN = vector(string);

export type MultiRequestOp =
  | {
      readonly opcode: typeof OpCode.create | typeof OpCode.create2 | typeof OpCode.createContainer;
      readonly request: CreateRequest;
    }
  | { readonly opcode: typeof OpCode.createTtl; readonly request: CreateTtlRequest }
  | {
      readonly opcode: typeof OpCode.delete | typeof OpCode.check;
      readonly request: PathVersionRequest;
    }
  | { readonly opcode: typeof OpCode.setData; readonly request: SetDataRequest };

export interface MultiReadRequestOp {
  readonly opcode: typeof OpCode.getData | typeof OpCode.getChildren;
  readonly request: PathWatchRequest;
}

export interface MultiErrorResult {
  readonly opcode: typeof OpCode.error;
  readonly error: number;
}

/** A create2 may be answered as create; container and TTL creates are answered as create2. */
export type MultiResult =
  | { readonly opcode: typeof OpCode.create; readonly path: string }
  | { readonly opcode: typeof OpCode.create2; readonly path: string; readonly stat: Stat }
  | { readonly opcode: typeof OpCode.setData; readonly stat: Stat }
  | { readonly opcode: typeof OpCode.delete | typeof OpCode.check }
  | MultiErrorResult;

export type MultiReadResult =
  | {
      readonly opcode: typeof OpCode.getData;
      readonly data: Uint8Array | null;
      readonly stat: Stat;
    }
  | { readonly opcode: typeof OpCode.getChildren; readonly children: readonly string[] }
  | MultiErrorResult;

export interface MultiRequest {
  readonly ops: readonly MultiRequestOp[];
}
export const MultiRequest: Codec<MultiRequest> = {
  read: (reader) => ({ ops: readOperations(reader, readRequestOp) }),
  write: (writer, value) => {
    for (const op of value.ops) {
      writeHeader(writer, op.opcode, -1);
      writeRequestOp(writer, op);
    }
    writeEnd(writer);
  },
};

export interface MultiReadRequest {
  readonly ops: readonly MultiReadRequestOp[];
}
export const MultiReadRequest: Codec<MultiReadRequest> = {
  read: (reader) => ({ ops: readOperations(reader, readReadRequestOp) }),
  write: (writer, value) => {
    for (const op of value.ops) {
      writeHeader(writer, op.opcode, -1);
      PathWatchRequest.write(writer, op.request);
    }
    writeEnd(writer);
  },
};

export interface MultiResponse {
  readonly results: readonly MultiResult[];
}
export const MultiResponse: Codec<MultiResponse> = {
  read: (reader) => ({ results: readOperations(reader, readResult) }),
  write: (writer, value) => {
    for (const result of value.results) writeMultiResult(writer, result);
    writeEnd(writer);
  },
};

export interface MultiReadResponse {
  readonly results: readonly MultiReadResult[];
}
export const MultiReadResponse: Codec<MultiReadResponse> = {
  read: (reader) => ({ results: readOperations(reader, readReadResult) }),
  write: (writer, value) => {
    for (const result of value.results) writeReadResult(writer, result);
    writeEnd(writer);
  },
};

/** As `MultiRequest` reads them, but it stops behind one operation more than `countMax`. */
export function readMultiOps(reader: JuteReader, countMax: number): readonly MultiRequestOp[] {
  return readOperations(reader, readRequestOp, countMax);
}

/** As `readMultiOps`, of a multiRead. */
export function readMultiReadOps(
  reader: JuteReader,
  countMax: number,
): readonly MultiReadRequestOp[] {
  return readOperations(reader, readReadRequestOp, countMax);
}

/**
 * How many operations the MultiRequest in the rest of `reader` has, as a measure of its work:
 * nothing is decoded. Stops at `countMax`. Of a request that is malformed it is how many come
 * before the fault. Never throws, and leaves the reader at any place.
 */
export function countMultiOps(reader: JuteReader, countMax: number): number {
  let count = 0;
  try {
    while (count < countMax) {
      const opcode = reader.int();
      const done = reader.bool();
      reader.int();
      if (done) return count;
      skipRequestOp(reader, opcode);
      count += 1;
    }
    return count;
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return count;
  }
}

/**
 * The operations of a multi, or of its answer, as `readOne` reads them. Ends with the first header
 * that is `done`; every round reads a header, so it does end. Reads at most one more than
 * `countMax`.
 */
export function readOperations<T>(
  reader: JuteReader,
  readOne: (reader: JuteReader, type: number) => T,
  countMax = Number.POSITIVE_INFINITY,
): T[] {
  const values: T[] = [];
  while (values.length <= countMax) {
    const type = reader.int();
    const done = reader.bool();
    reader.int();
    if (done) return values;
    values.push(readOne(reader, type));
  }
  return values;
}

function writeHeader(writer: JuteWriter, type: number, error: number): void {
  writer.int(type);
  writer.bool(false);
  writer.int(error);
}

function writeEnd(writer: JuteWriter): void {
  writer.int(NO_TYPE);
  writer.bool(true);
  writer.int(-1);
}

function readRequestOp(reader: JuteReader, opcode: number): MultiRequestOp {
  switch (opcode) {
    case OpCode.create:
    case OpCode.create2:
    case OpCode.createContainer:
      return { opcode, request: CreateRequest.read(reader) };
    case OpCode.createTtl:
      return { opcode, request: CreateTtlRequest.read(reader) };
    case OpCode.delete:
    case OpCode.check:
      return { opcode, request: PathVersionRequest.read(reader) };
    case OpCode.setData:
      return { opcode, request: SetDataRequest.read(reader) };
    default:
      throw new MarshallingError(`operation ${opcode} is not allowed in a multi`);
  }
}

function skipRequestOp(reader: JuteReader, opcode: number): void {
  reader.skipBuffer();
  switch (opcode) {
    case OpCode.create:
    case OpCode.create2:
    case OpCode.createContainer:
    case OpCode.createTtl:
      reader.skipBuffer();
      for (let left = reader.count(); left > 0; left--) {
        reader.int();
        reader.skipBuffer();
        reader.skipBuffer();
      }
      reader.int();
      if (opcode === OpCode.createTtl) reader.long();
      return;
    case OpCode.setData:
      reader.skipBuffer();
      reader.int();
      return;
    case OpCode.delete:
    case OpCode.check:
      reader.int();
      return;
    default:
      throw new MarshallingError(`operation ${opcode} is not allowed in a multi`);
  }
}

function writeRequestOp(writer: JuteWriter, op: MultiRequestOp): void {
  switch (op.opcode) {
    case OpCode.create:
    case OpCode.create2:
    case OpCode.createContainer:
      CreateRequest.write(writer, op.request);
      return;
    case OpCode.createTtl:
      CreateTtlRequest.write(writer, op.request);
      return;
    case OpCode.delete:
    case OpCode.check:
      PathVersionRequest.write(writer, op.request);
      return;
    case OpCode.setData:
      SetDataRequest.write(writer, op.request);
      return;
    default:
      unreachable(op);
  }
}

function readReadRequestOp(reader: JuteReader, opcode: number): MultiReadRequestOp {
  if (opcode !== OpCode.getData && opcode !== OpCode.getChildren) {
    throw new MarshallingError(`operation ${opcode} is not allowed in a multiRead`);
  }
  return { opcode, request: PathWatchRequest.read(reader) };
}

function readResult(reader: JuteReader, opcode: number): MultiResult {
  switch (opcode) {
    case OpCode.create:
      return { opcode, path: readString(reader) };
    case OpCode.create2:
      return { opcode, path: readString(reader), stat: Stat.read(reader) };
    case OpCode.setData:
      return { opcode, stat: Stat.read(reader) };
    case OpCode.delete:
    case OpCode.check:
      return { opcode };
    case OpCode.error:
      return { opcode, error: reader.int() };
    default:
      throw new MarshallingError(`a result of type ${opcode} in a multi`);
  }
}

function writeMultiResult(writer: JuteWriter, result: MultiResult): void {
  if (result.opcode === OpCode.error) {
    writeError(writer, result.error);
    return;
  }
  writeHeader(writer, result.opcode, 0);
  switch (result.opcode) {
    case OpCode.create:
      writer.string(result.path);
      return;
    case OpCode.create2:
      writer.string(result.path);
      Stat.write(writer, result.stat);
      return;
    case OpCode.setData:
      Stat.write(writer, result.stat);
      return;
    case OpCode.delete:
    case OpCode.check:
      return;
    default:
      unreachable(result);
  }
}

function readReadResult(reader: JuteReader, opcode: number): MultiReadResult {
  switch (opcode) {
    case OpCode.getData:
      return { opcode, data: reader.buffer(), stat: Stat.read(reader) };
    case OpCode.getChildren:
      return { opcode, children: CHILDREN.read(reader) };
    case OpCode.error:
      return { opcode, error: reader.int() };
    default:
      throw new MarshallingError(`a result of type ${opcode} in a multiRead`);
  }
}

function writeReadResult(writer: JuteWriter, result: MultiReadResult): void {
  if (result.opcode === OpCode.error) {
    writeError(writer, result.error);
    return;
  }
  writeHeader(writer, result.opcode, 0);
  switch (result.opcode) {
    case OpCode.getData:
      writer.buffer(result.data);
      Stat.write(writer, result.stat);
      return;
    case OpCode.getChildren:
      CHILDREN.write(writer, result.children);
      return;
    default:
      unreachable(result);
  }
}

function writeError(writer: JuteWriter, error: number): void {
  writeHeader(writer, OpCode.error, error);
  writer.int(error);
}
