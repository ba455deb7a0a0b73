/** Goal: the primitives survive any value and any garbage. Method: properties over both. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bool,
  buffer,
  decode,
  encode,
  int,
  long,
  nullableString,
  nullableVector,
} from './codec.js';
import { FrameTooLargeError, MarshallingError } from './errors.js';
import { INT64_MAX, INT64_MIN, type Int64, plainHexId, toInt64 } from './int64.js';
import { JuteReader, requiredNatural } from './reader.js';
import { JuteWriter } from './writer.js';

/** Only the synchronous overload: an asynchronous property does not compile. */
const holds: <T>(property: fc.IProperty<T>, parameters?: fc.Parameters<T>) => void = fc.assert;

const edges = [0n, -1n, 1n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n), -(2n ** 53n) + 1n];
const int64: fc.Arbitrary<Int64> = fc
  .oneof(
    fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
    fc.maxSafeInteger().map(BigInt),
    fc.constantFrom(...edges, INT64_MIN, INT64_MAX, 2n ** 32n, -(2n ** 32n), 2n ** 32n - 1n),
  )
  .map(toInt64);

describe('a long', () => {
  it('is a number exactly when it is a safe integer, and comes back as it went', () => {
    holds(
      fc.property(int64, (value) => {
        const read = decode(long, encode(long, value));
        expect(read).toBe(value);
        expect(typeof read).toBe(
          BigInt(value) === BigInt(Number(value)) && Number.isSafeInteger(Number(value))
            ? 'number'
            : 'bigint',
        );
      }),
    );
  });

  it('is natural exactly when it is a number that is not negative', () => {
    holds(
      fc.property(int64, (value) => {
        const read = () => requiredNatural(new JuteReader(encode(long, value)), 'a test');
        if (typeof value === 'number' && value >= 0) expect(read()).toBe(value);
        else expect(read).toThrow(MarshallingError);
      }),
    );
  });

  it('has the bytes that BigInt64 has', () => {
    holds(
      fc.property(int64, (value) => {
        const expected = Buffer.alloc(8);
        expected.writeBigInt64BE(BigInt(value));
        expect(Buffer.from(encode(long, value))).toEqual(expected);
      }),
    );
  });

  it('is read as an id in hex, however its digits are written', () => {
    expect(plainHexId('0x000A1b')).toBe('0xa1b');
    expect(plainHexId('0X0')).toBe('0x0');
    expect(plainHexId(`0x00${'f'.repeat(16)}`)).toBe(`0x${'f'.repeat(16)}`);
    for (const wrong of ['', '0x', 'a1', '0xg', ' 0x1', `0x${'f'.repeat(17)}`]) {
      expect(plainHexId(wrong), wrong).toBeNull();
    }
  });

  it('is never written from a number that is not a safe integer', () => {
    const writer = new JuteWriter();
    for (const value of [2 ** 53, 0.5, Number.NaN]) {
      expect(() => writer.long(value)).toThrowError(
        expect.objectContaining({ name: 'InvariantViolation' }),
      );
    }
  });
});

describe('bytes that lie within others', () => {
  it('are written as a copy of them, whatever the place and length', () => {
    const source = Buffer.from(Array.from({ length: 100 }, (_, index) => 255 - index * 6));
    const view = new DataView(source.buffer, source.byteOffset, source.length);
    for (let length = 0; length < 45; length++) {
      const writer = new JuteWriter();
      writer.bool(true);
      writer.rawWithin(view, 5 + length, length);
      expect([...writer.take()]).toEqual([1, ...source.subarray(5 + length, 5 + 2 * length)]);
    }
  });
});

describe('a string', () => {
  it('comes back as it went, whatever its length and script', () => {
    holds(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (value) => {
        expect(decode(nullableString, encode(nullableString, value))).toBe(value);
      }),
    );
  });

  it('is plain UTF-8 on the wire, short or long', () => {
    for (const value of [
      '',
      'a',
      'é',
      'x'.repeat(47),
      'x'.repeat(60),
      `${'x'.repeat(40)}é`,
      '😀',
    ]) {
      const bytes = encode(nullableString, value);
      expect(Buffer.from(bytes.subarray(4)).toString('utf8')).toBe(value);
      expect(bytes.length).toBe(4 + Buffer.byteLength(value));
    }
  });

  it('of length -1 is null', () => {
    expect(decode(nullableString, encode(nullableString, null))).toBeNull();
  });
});

describe('a string of which one value is usual', () => {
  it('is read as any other, equal to the usual one or not', () => {
    for (const text of ['world', 'worle', 'World', 'worl', 'worlds', '', 'wör', null]) {
      const writer = new JuteWriter();
      writer.string(text);
      writer.int(7);
      const reader = new JuteReader(writer.take());
      expect(reader.stringOr('world')).toBe(text);
      expect(reader.int()).toBe(7);
    }
  });
});

describe('a buffer', () => {
  it('is read as a view, null for -1', () => {
    const bytes = encode(buffer, new Uint8Array([1, 2, 3]));
    const view = decode(buffer, bytes);
    expect(view).toEqual(Buffer.from([1, 2, 3]));
    bytes[4] = 9;
    expect(view?.[0]).toBe(9);
    expect(decode(buffer, encode(buffer, null))).toBeNull();
  });
});

describe('JuteReader', () => {
  const readers = [int, long, bool, buffer, nullableString, nullableVector(nullableString)];

  it('gives a value or a MarshallingError for any bytes', () => {
    holds(
      fc.property(fc.constantFrom(...readers), fc.uint8Array({ maxLength: 40 }), (codec, bytes) => {
        try {
          codec.read(new JuteReader(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(MarshallingError);
        }
      }),
    );
  });

  it('does not read past the end it was given, though bytes follow', () => {
    const bytes = Buffer.alloc(16);
    const reader = new JuteReader(bytes, 2, 6);
    expect(reader.remaining).toBe(4);
    reader.int();
    expect(() => reader.bool()).toThrowError(MarshallingError);
  });

  it('views the bytes that it was pointed at last, from where they begin', () => {
    const bytes = Buffer.from('abcdefgh');
    const reader = new JuteReader(bytes);
    expect(reader.view.getUint8(0)).toBe(0x61);
    reader.point(bytes.subarray(2, 6), 1, 4);
    expect(reader.view.getUint8(0)).toBe(0x63);
    expect(reader.view.byteLength).toBe(4);
    reader.point(bytes, 0, 8);
    expect(reader.view.getUint8(0)).toBe(0x61);
  });

  it('refuses a count that the rest cannot hold before anything is allocated', () => {
    const bytes = Buffer.alloc(12);
    bytes.writeInt32BE(0x7fff_ffff);
    expect(() => new JuteReader(bytes).count()).toThrowError(MarshallingError);
    bytes.writeInt32BE(3);
    expect(() => new JuteReader(bytes).count()).toThrowError(MarshallingError);
    bytes.writeInt32BE(2);
    expect(new JuteReader(bytes).count()).toBe(2);
    bytes.writeInt32BE(-2);
    expect(() => new JuteReader(bytes).count()).toThrowError(MarshallingError);
  });
});

describe('JuteWriter', () => {
  it('leaves bytes that were taken alone', () => {
    const writer = new JuteWriter();
    writer.string('first');
    const first = writer.take();
    const before = Buffer.from(first).toString('hex');
    for (let index = 0; index < 10_000; index++) writer.string('second');
    writer.take();
    writer.string('third');
    expect(Buffer.from(first).toString('hex')).toBe(before);
  });

  it('writes the same whatever it has grown through', () => {
    holds(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 6 }), (parts) => {
        const writer = new JuteWriter();
        for (const part of parts) writer.buffer(part);
        const reader = new JuteReader(writer.take());
        for (const part of parts) expect(Buffer.compare(reader.buffer() ?? part, part)).toBe(0);
        expect(reader.remaining).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('patches the length of each frame, after growth too', () => {
    const writer = new JuteWriter();
    writer.beginFrame();
    writer.raw(new Uint8Array(100_000));
    writer.endFrame();
    writer.beginFrame();
    writer.int(7);
    writer.endFrame();
    const bytes = Buffer.from(writer.take());
    expect(bytes.readInt32BE(0)).toBe(100_000);
    expect(bytes.readInt32BE(100_004)).toBe(4);
    expect(bytes.length).toBe(100_012);
  });

  it('does not open a frame inside a frame, nor hand over half of one', () => {
    const writer = new JuteWriter();
    writer.beginFrame();
    expect(() => writer.beginFrame()).toThrowError('nest');
    expect(() => writer.take()).toThrowError('open');
  });

  it('forgets a frame that is truncated away and nothing before it', () => {
    const writer = new JuteWriter();
    writer.int(1);
    const length = writer.length;
    writer.beginFrame();
    writer.int(2);
    writer.truncate(length);
    writer.int(3);
    expect(Buffer.from(writer.take()).toString('hex')).toBe('0000000100000003');
  });

  it('keeps what was taken when it is reset', () => {
    const writer = new JuteWriter();
    writer.int(1);
    const taken = writer.take();
    writer.int(2);
    writer.reset();
    writer.int(3);
    expect(Buffer.from(taken).toString('hex')).toBe('00000001');
    expect(Buffer.from(writer.take()).toString('hex')).toBe('00000003');
  });

  it('throws for an int that is not of 32 bits', () => {
    expect(() => new JuteWriter().int(2 ** 31)).toThrowError();
  });
});

describe('a frame that is too large for its length', () => {
  const BYTES_MAX = 1000;

  it('is refused and dropped, and what is around it stays', () => {
    for (const bytes of [BYTES_MAX, BYTES_MAX + 1, 40 * BYTES_MAX]) {
      const writer = new JuteWriter(null, 16 * 1024, BYTES_MAX);
      writer.beginFrame();
      writer.raw(Buffer.alloc(2));
      writer.endFrame();
      const frame = () => {
        writer.beginFrame();
        for (let left = bytes; left > 0; left -= 100) writer.raw(Buffer.alloc(Math.min(100, left)));
        writer.endFrame();
      };
      if (bytes > BYTES_MAX) expect(frame).toThrow(FrameTooLargeError);
      else frame();
      writer.beginFrame();
      writer.endFrame();
      const large = bytes > BYTES_MAX ? 0 : 4 + bytes;
      expect(writer.take()).toHaveLength(4 + 2 + large + 4);
    }
  });

  it('is refused before there is memory for it', () => {
    const writer = new JuteWriter();
    writer.beginFrame();
    expect(() => writer.reserve(2 ** 31)).toThrow(FrameTooLargeError);
    expect(writer.slabBytes).toBeLessThan(1 << 20);
  });
});
