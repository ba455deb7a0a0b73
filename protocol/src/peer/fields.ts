/**
 * The fields of peer messages: how each is encoded as msgpack, and checked when it is decoded.
 *
 * `pack` asserts, since a member that sends nonsense must stop. `unpack` trusts nothing: it returns
 * a value of its type or throws MarshallingError. Byte fields come back as views of the frame.
 * A field that a later wire version adds to a message is `added` at the end of its layout.
 */
import { assert } from '../basics/assert.js';
import { MarshallingError } from '../jute/errors.js';
import { COUNTER_MAX, EPOCH_MAX, isZxid } from './zxid.js';

export interface Field<T> {
  pack(value: T): unknown;
  unpack(packed: unknown): T;
  /** The first wire version that has the field; without it, all versions do. See `added`. */
  readonly since?: number;
  /** Its value in a message of an earlier version. */
  readonly absent?: T;
}

/**
 * A field that messages have from the wire version `since` on. On a link of an earlier version it
 * is not sent, and whoever receives the message finds `absent` in its place.
 */
export function added<T>(since: number, { pack, unpack }: Field<T>, absent: T): Field<T> {
  return { pack, unpack, since, absent };
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

/** The largest time that a Date can represent. */
const DATE_MAX_MS = 8.64e15;

/** A time in ms since 1970, of a clock that may be wrong. */
export const date = integer('a date', { min: -DATE_MAX_MS, max: DATE_MAX_MS });

/** A text of bounded length that is logged or compared as it is. */
export function shortText(charactersMax: number): Field<string> {
  const what = `a string of at most ${charactersMax} characters`;
  return field<string>(what, (packed): packed is string => {
    return typeof packed === 'string' && packed.length <= charactersMax;
  });
}

export function natural(max: number): Field<number> {
  return integer(`a whole number from 0 to ${max}`, { min: 0, max });
}

export const flag = field<boolean>('a boolean', (packed) => typeof packed === 'boolean');
export const text = field<string>('a string', (packed) => typeof packed === 'string');
/** The type is explicit, because TypeScript before 5.7 cannot read the inferred one. */
export const bytes: Field<Uint8Array> = field(
  'bytes',
  (packed): packed is Uint8Array => packed instanceof Uint8Array,
);

export function bytesOf(length: number): Field<Uint8Array> {
  return field(`${length} bytes`, (packed): packed is Uint8Array => {
    return packed instanceof Uint8Array && packed.length === length;
  });
}

/** One of a few words, sent as its index. New words may only be added at the end. */
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

/** At most `max` elements. */
export function list<T>(element: Field<T>, max = Number.POSITIVE_INFINITY): Field<readonly T[]> {
  return {
    pack: (values) => {
      assert(values.length <= max, () => `${values.length} elements are at most ${max}`);
      return values.map((value) => element.pack(value));
    },
    unpack: (packed) => {
      const values = asArray(packed);
      if (values.length > max) throw new MarshallingError(`a list of more than ${max} elements`);
      return values.map((value) => element.unpack(value));
    },
  };
}

export function pair<A, B>(first: Field<A>, second: Field<B>): Field<readonly [A, B]> {
  return {
    pack: ([one, other]) => [first.pack(one), second.pack(other)],
    unpack: (packed) => {
      const [one, other, ...more] = asArray(packed);
      if (more.length > 0) throw new MarshallingError('a pair of more than two');
      return [first.unpack(one), second.unpack(other)];
    },
  };
}

/** An object as an array of its fields, in the order of their declaration. */
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

/**
 * An object as a list of names and values, for what must be extended without a new wire version:
 * names that the reader does not know are ignored, and what is missing has the value of `absent`.
 */
export function named<T extends object>(fields: FieldMap<T>, absent: T): Field<T> {
  const known = new Map(Object.entries<Field<unknown>>(fields));
  return {
    pack: (value) => {
      const values = value as Readonly<Record<string, unknown>>;
      return [...known].map(([name, entry]) => [name, entry.pack(values[name])]);
    },
    unpack: (packed) => {
      const found = { ...absent } as Record<string, unknown>;
      for (const pair of asArray(packed)) {
        const [name, value] = asArray(pair);
        const entry = known.get(text.unpack(name));
        if (entry !== undefined) found[text.unpack(name)] = entry.unpack(value);
      }
      return found as T;
    },
  };
}

/** The names and fields of an object; the shared half of `struct` and of a message. */
export class Layout<T extends object> {
  readonly #entries: readonly (readonly [string, Field<unknown>])[];

  constructor(fields: FieldMap<T>) {
    this.#entries = Object.entries<Field<unknown>>(fields);
    let since = 0;
    for (const [name, entry] of this.#entries) {
      assert((entry.since ?? 0) >= since, () => `${name} is added behind older fields`);
      since = entry.since ?? 0;
    }
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Returns how many of the first fields a message of this wire version has. */
  sizeAt(version: number): number {
    let size = this.#entries.length;
    while (size > 0 && (this.#entries[size - 1]?.[1].since ?? 0) > version) size -= 1;
    return size;
  }

  /** Appends the packed fields of `value` to `packed`, `size` of them. */
  pack(packed: unknown[], value: T, size = this.#entries.length): unknown[] {
    const values = value as Readonly<Record<string, unknown>>;
    let left = size;
    for (const [name, entry] of this.#entries) {
      if (left === 0) break;
      left -= 1;
      packed.push(entry.pack(values[name]));
    }
    return packed;
  }

  /**
   * Adds the fields found in `packed` from `offset` on to `target`, which becomes the value. Fields
   * that are not there any more have the values that they had before they were added.
   */
  unpack(target: Record<string, unknown>, packed: readonly unknown[], offset: number): T {
    let index = offset;
    for (const [name, entry] of this.#entries) {
      target[name] = index < packed.length ? entry.unpack(packed[index]) : entry.absent;
      index += 1;
    }
    return target as T;
  }
}

export function asArray(packed: unknown): readonly unknown[] {
  if (Array.isArray(packed)) return packed;
  throw new MarshallingError('a field is not a list');
}
