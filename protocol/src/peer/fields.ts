/**
 * The fields of peer messages: how each is put into msgpack's terms and checked on the way back.
 *
 * `pack` asserts, since a member that sends nonsense must stop. `unpack` trusts nothing: it returns
 * a value of its type or throws MarshallingError. Byte fields come back as views of the frame.
 */
import { assert } from '../assert.js';
import { MarshallingError } from '../marshalling-error.js';
import { COUNTER_MAX, EPOCH_MAX, isZxid } from '../zxid.js';

export interface Field<T> {
  pack(value: T): unknown;
  unpack(packed: unknown): T;
}

type FieldMap<T> = { readonly [Name in keyof T]-?: Field<T[Name]> };

function field<T>(what: string, is: (packed: unknown) => packed is T): Field<T> {
  return {
    pack: (value) => {
      assert(is(value), () => `a field to be sent is ${what}, not ${String(value)}`);
      return value;
    },
    unpack: (packed) => {
      if (is(packed)) return packed;
      throw new MarshallingError(`a field is not ${what}`);
    },
  };
}

function isSafe(packed: unknown): packed is number {
  return Number.isSafeInteger(packed);
}

function integer(what: string, range: { readonly min: number; readonly max: number }) {
  return field<number>(what, (packed): packed is number => {
    return isSafe(packed) && packed >= range.min && packed <= range.max;
  });
}

export const uint = integer('a natural number', { min: 0, max: Number.MAX_SAFE_INTEGER });
export const peerId = integer('a member id', { min: 0, max: 255 });
export const epoch = integer('an epoch', { min: 0, max: EPOCH_MAX });
export const counter = integer('a counter', { min: 0, max: COUNTER_MAX });
export const zxid = field<number>('a zxid', (packed): packed is number => {
  return isSafe(packed) && isZxid(packed);
});

/** Milliseconds of a monotonic clock, not always whole. */
export const milliseconds = field<number>('a time', (packed): packed is number => {
  return typeof packed === 'number' && Number.isFinite(packed) && packed >= 0;
});

export const flag = field<boolean>('a boolean', (packed) => typeof packed === 'boolean');
export const text = field<string>('a string', (packed) => typeof packed === 'string');
export const bytes = field<Uint8Array>('bytes', (packed) => packed instanceof Uint8Array);

/** One of a few words, sent as its index; so words are only ever added at the end. */
export function oneOf<const T extends string>(...words: readonly T[]): Field<T> {
  return {
    pack: (value) => {
      const index = words.indexOf(value);
      assert(index >= 0, () => `${value} is one of ${words.join(', ')}`);
      return index;
    },
    unpack: (packed) => {
      const word = typeof packed === 'number' ? words[packed] : undefined;
      if (word === undefined) throw new MarshallingError(`a field is not of ${words.join(', ')}`);
      return word;
    },
  };
}

export function list<T>(element: Field<T>): Field<readonly T[]> {
  return {
    pack: (values) => values.map((value) => element.pack(value)),
    unpack: (packed) => asArray(packed).map((value) => element.unpack(value)),
  };
}

/** A pair of bytes: the key and the value of a record. */
export const keyAndValue: Field<readonly [Uint8Array, Uint8Array]> = {
  pack: (value) => value,
  unpack: (packed) => {
    const [key, value, ...more] = asArray(packed);
    if (more.length > 0) throw new MarshallingError('a pair of more than two');
    return [bytes.unpack(key), bytes.unpack(value)];
  },
};

/** An object as an array of its fields, in the order they are declared in here. */
export function struct<T extends object>(fields: FieldMap<T>): Field<T> {
  const layout = new Layout<T>(fields);
  return {
    pack: (value) => layout.pack([], value),
    unpack: (packed) => {
      const values = asArray(packed);
      if (values.length !== layout.size) throw new MarshallingError('a struct of a wrong size');
      return layout.unpack({}, values, 0);
    },
  };
}

/** The names and fields of an object; the shared half of `struct` and of a message. */
export class Layout<T extends object> {
  readonly #entries: readonly (readonly [string, Field<unknown>])[];

  constructor(fields: FieldMap<T>) {
    this.#entries = Object.entries<Field<unknown>>(fields);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Appends the packed fields of `value` to `packed`. */
  pack(packed: unknown[], value: T): unknown[] {
    const values = value as Readonly<Record<string, unknown>>;
    for (const [name, entry] of this.#entries) packed.push(entry.pack(values[name]));
    return packed;
  }

  /** Adds the fields found in `packed` from `offset` on to `target`, which becomes the value. */
  unpack(target: Record<string, unknown>, packed: readonly unknown[], offset: number): T {
    let index = offset;
    for (const [name, entry] of this.#entries) target[name] = entry.unpack(packed[index++]);
    return target as T;
  }
}

export function asArray(packed: unknown): readonly unknown[] {
  if (Array.isArray(packed)) return packed;
  throw new MarshallingError('a field is not a list');
}
