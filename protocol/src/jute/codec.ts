/**
 * Codecs: how a value is read from and written to jute, declared once for server and client.
 *
 * Codecs of primitives are combined into records. The fields of a record are on the wire in the
 * order of their declaration, because JavaScript keeps the order of an object's string keys. The
 * `read` of a codec throws MarshallingError for anything that is not of its type, and no other
 * error.
 */

import { MarshallingError } from './errors.js';
import type { Int64 } from './int64.js';
import { JuteReader } from './reader.js';
import { JuteWriter } from './writer.js';

export interface Codec<T> {
  read(reader: JuteReader): T;
  write(writer: JuteWriter, value: T): void;
}

/** The type of value that a codec reads and writes. */
export type Decoded<C> = C extends Codec<infer T> ? T : never;

export const bool: Codec<boolean> = {
  read: (reader) => reader.bool(),
  write: (writer, value) => writer.bool(value),
};

export const int: Codec<number> = {
  read: (reader) => reader.int(),
  write: (writer, value) => writer.int(value),
};

export const long: Codec<Int64> = {
  read: (reader) => reader.long(),
  write: (writer, value) => writer.long(value),
};

/** A buffer that may be null, as every buffer of the protocol. */
export const buffer: Codec<Uint8Array | null> = {
  read: (reader) => reader.buffer(),
  write: (writer, value) => writer.buffer(value),
};

/** A string that must not be null. */
export const string: Codec<string> = {
  read: readString,
  write: (writer, value) => writer.string(value),
};

export const nullableString: Codec<string | null> = {
  read: (reader) => reader.string(),
  write: (writer, value) => writer.string(value),
};

/**
 * Reads null as '', because some clients write an empty string as null. C clients cannot read null.
 */
export const stringOrEmpty: Codec<string> = {
  read: (reader) => reader.string() ?? '',
  write: (writer, value) => writer.string(value),
};

/** An empty body. */
export const nothing: Codec<null> = {
  read: () => null,
  write: () => undefined,
};

/** Reads a null vector as an empty one. */
export function vector<T>(element: Codec<T>): Codec<readonly T[]> {
  const nullable = nullableVector(element);
  return { read: (reader) => nullable.read(reader) ?? [], write: nullable.write };
}

export function nullableVector<T>(element: Codec<T>): Codec<readonly T[] | null> {
  return {
    read: (reader) => {
      const count = reader.count();
      if (count === -1) return null;
      const values: T[] = [];
      for (let index = 0; index < count; index++) values.push(element.read(reader));
      return values;
    },
    write: (writer, values) => {
      writer.int(values === null ? -1 : values.length);
      for (const value of values ?? []) element.write(writer, value);
    },
  };
}

type Fields = Readonly<Record<string, Codec<unknown>>>;
type RecordOf<F extends Fields> = { readonly [Name in keyof F]: Decoded<F[Name]> };

/** A record of named fields. Records on the hot path are written by hand instead. */
export function record<F extends Fields>(fields: F): Codec<RecordOf<F>> {
  const entries = Object.entries(fields);
  return {
    read: (reader) => {
      const value: Record<string, unknown> = {};
      for (const [name, codec] of entries) value[name] = codec.read(reader);
      return value as RecordOf<F>;
    },
    write: (writer, value) => {
      for (const [name, codec] of entries) codec.write(writer, value[name]);
    },
  };
}

/** Reads a string that must not be null. */
export function readString(reader: JuteReader): string {
  const value = reader.string();
  if (value === null) throw new MarshallingError('a string is null that must not be');
  return value;
}

/** Returns the value's bytes in a new buffer. For tests and rare messages. */
export function encode<T>(codec: Codec<T>, value: T): Uint8Array {
  const writer = new JuteWriter();
  codec.write(writer, value);
  return writer.take();
}

/** Reads one value and ignores bytes behind it, as Java does. */
export function decode<T>(codec: Codec<T>, bytes: Uint8Array): T {
  return codec.read(new JuteReader(bytes));
}
