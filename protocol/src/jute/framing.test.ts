/** Goal: any cut of a stream into chunks gives the same frames. Method: random streams and cuts. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameError, FrameReader } from './framing.js';
import { JuteReader } from './reader.js';

/** Only the synchronous overload: an asynchronous property does not compile. */
const holds: <T>(property: fc.IProperty<T>, parameters?: fc.Parameters<T>) => void = fc.assert;

const LIMIT = 5000;

function framed(...frames: readonly Uint8Array[]): Buffer {
  const parts = frames.map((frame) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(frame.length);
    return Buffer.concat([length, frame]);
  });
  return Buffer.concat(parts);
}

function cut(stream: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let index = 0; at < stream.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    chunks.push(stream.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

function drain(reader: FrameReader, into: string[]): void {
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    into.push(Buffer.from(frame).toString('hex'));
  }
}

const frames = fc.array(
  fc.oneof(fc.uint8Array({ maxLength: 12 }), fc.uint8Array({ minLength: 1000, maxLength: LIMIT })),
  { maxLength: 12 },
);
const sizes = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 3000 })),
  {
    minLength: 1,
    maxLength: 8,
  },
);

/** Most of them arrive in several chunks. */
const longFrames = fc.array(fc.uint8Array({ minLength: 500, maxLength: LIMIT }), { maxLength: 8 });
/** How many frames are taken at most after each chunk. */
const takes = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 8 });

describe('FrameReader', () => {
  it('gives frames of their own where chunks are lent, however the stream is cut', () => {
    holds(
      fc.property(frames, sizes, (list, cuts) => {
        const reader = new FrameReader(LIMIT);
        const memory = Buffer.alloc(3000);
        const kept: Uint8Array[] = [];
        for (const chunk of cut(framed(...list), cuts)) {
          memory.set(chunk);
          reader.push(memory.subarray(0, chunk.length));
          for (let own = reader.nextOwn(); own !== null; own = reader.nextOwn()) kept.push(own);
          reader.giveBack();
          memory.fill(0xee);
        }
        expect(kept.map((frame) => Buffer.from(frame).toString('hex'))).toEqual(
          list.map((frame) => Buffer.from(frame).toString('hex')),
        );
        for (const { buffer, length } of kept) {
          if (length > 0) expect(buffer.byteLength).toBe(length);
        }
      }),
    );
  });

  it('finds the same frames however the stream is cut and whenever it is drained', () => {
    holds(
      fc.property(frames, sizes, fc.array(fc.boolean(), { minLength: 1 }), (list, cuts, drains) => {
        const reader = new FrameReader(LIMIT);
        const found: string[] = [];
        for (const [index, chunk] of cut(framed(...list), cuts).entries()) {
          reader.push(chunk);
          if (drains[index % drains.length]) drain(reader, found);
        }
        drain(reader, found);
        expect(found).toEqual(list.map((frame) => Buffer.from(frame).toString('hex')));
        expect(reader.bufferedBytes).toBe(0);
      }),
    );
  });

  it('finds them also in chunks that are only lent, wherever it points a reader', () => {
    holds(
      fc.property(longFrames, sizes, takes, (list, cuts, taken) => {
        const reader = new FrameReader(LIMIT);
        const frame = new JuteReader(new Uint8Array(0));
        const found: string[] = [];
        for (const [index, chunk] of cut(framed(...list), cuts).entries()) {
          const lent = Buffer.from(chunk);
          reader.push(lent);
          const most = taken[index % taken.length] ?? 0;
          for (let left = most; left > 0 && reader.pointAtNext(frame); left--) {
            found.push(Buffer.from(frame.rest()).toString('hex'));
          }
          reader.giveBack();
          lent.fill(0xee);
        }
        while (reader.pointAtNext(frame)) found.push(Buffer.from(frame.rest()).toString('hex'));
        expect(found).toEqual(list.map((bytes) => Buffer.from(bytes).toString('hex')));
        expect(reader.bufferedBytes).toBe(0);
      }),
    );
  });

  it('loses no complete frame that is not taken while half of the next one arrives', () => {
    const reader = new FrameReader(LIMIT);
    const stream = framed(Buffer.alloc(1000, 'first'), Buffer.alloc(1000, 'second'));
    let at = 0;
    for (const end of [600, 1004, 1604, stream.length]) {
      const lent = Buffer.from(stream.subarray(at, end));
      reader.push(lent);
      reader.giveBack();
      lent.fill(0xee);
      at = end;
    }
    const frame = new JuteReader(new Uint8Array(0));
    const found: string[] = [];
    while (reader.pointAtNext(frame)) found.push(Buffer.from(frame.rest()).toString());
    expect(found.map((text) => text.slice(0, 11))).toEqual(['firstfirstf', 'secondsecon']);
    expect(reader.bufferedBytes).toBe(0);
  });

  it('gives a view of the chunk when the frame is whole in it', () => {
    const reader = new FrameReader(LIMIT);
    const chunk = framed(Buffer.from('abc'));
    reader.push(chunk);
    expect(reader.next()?.buffer).toBe(chunk.buffer);
  });

  it('accepts a frame of exactly the limit and refuses one byte more before it has arrived', () => {
    const reader = new FrameReader(LIMIT);
    reader.push(framed(new Uint8Array(LIMIT)));
    expect(reader.next()?.length).toBe(LIMIT);
    const header = Buffer.alloc(4);
    header.writeInt32BE(LIMIT + 1);
    reader.push(header);
    expect(() => reader.next()).toThrowError(FrameError);
    expect(() => reader.next()).toThrowError(FrameError);
  });

  it('refuses a negative length, every time', () => {
    for (const length of [-1, -0x8000_0000]) {
      const reader = new FrameReader(LIMIT);
      const header = Buffer.alloc(4);
      header.writeInt32BE(length);
      reader.push(header);
      expect(() => reader.next()).toThrowError(FrameError);
      reader.push(new Uint8Array(10));
      expect(() => reader.next()).toThrowError(FrameError);
    }
  });

  it('throws nothing but FrameError, whatever comes', () => {
    holds(
      fc.property(fc.array(fc.uint8Array({ maxLength: 2000 })), (chunks) => {
        const reader = new FrameReader(LIMIT);
        try {
          for (const chunk of chunks) {
            reader.push(chunk);
            drain(reader, []);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });

  it('keeps frames that it gave out unchanged while single bytes go on coming', () => {
    const reader = new FrameReader(LIMIT);
    const stream = framed(Buffer.from('first'), Buffer.from('second'));
    const kept: (Uint8Array | null)[] = [];
    for (let at = 0; at < stream.length; at++) reader.push(stream.subarray(at, at + 1));
    kept.push(reader.next());
    for (const byte of framed(Buffer.from('third'))) reader.push(Uint8Array.of(byte));
    kept.push(reader.next(), reader.next(), reader.next());
    const texts = kept.map((frame) => frame && Buffer.from(frame).toString());
    expect(texts).toEqual(['first', 'second', 'third', null]);
  });

  it('keeps no more memory than it says, however a frame comes in, and none when it is cleared', () => {
    const pieces = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 3000 })), {
      minLength: 1,
      maxLength: 60,
    });
    holds(
      fc.property(pieces, (lengths) => {
        const reader = new FrameReader(1_000_000);
        reader.push(Buffer.from([0, 15, 0, 0]));
        reader.giveBack();
        let sent = 4;
        for (const length of lengths) {
          reader.push(Buffer.alloc(length));
          reader.giveBack();
          sent += length;
          expect(reader.heldBytes).toBeGreaterThanOrEqual(sent);
          // At most what is free in the last piece, and an eighth in those before it.
          expect(reader.heldBytes).toBeLessThanOrEqual(sent + 8192);
        }
        reader.clear();
        expect([reader.heldBytes, reader.bufferedBytes]).toEqual([0, 0]);
      }),
    );
  });

  it('keeps at most twice what has arrived of a frame, which is copied once where half is there', () => {
    const lengths = fc.integer({ min: 2, max: 60_000 });
    holds(
      fc.property(lengths, fc.array(lengths, { minLength: 1 }), (length, pieces) => {
        const reader = new FrameReader(60_000);
        const frame = Buffer.alloc(length, 'frame');
        const lent = Buffer.alloc(60_004);
        let arrived = 0;
        for (const piece of cut(framed(frame), pieces)) {
          lent.set(piece);
          expect(reader.nextOwn()).toBeNull();
          reader.push(lent.subarray(0, piece.length));
          arrived += piece.length;
          if (arrived === length + 4) break;
          expect(reader.nextOwn()).toBeNull();
          reader.giveBack();
          lent.fill(0xee);
          expect(reader.bufferedBytes).toBeGreaterThanOrEqual(arrived - 4);
          // A small piece may get 8 KB.
          expect(reader.heldBytes).toBeLessThanOrEqual(2 * arrived + 8192);
        }
        const own = reader.nextOwn();
        expect(Buffer.compare(own ?? Buffer.of(), frame)).toBe(0);
        expect(own?.buffer.byteLength).toBe(length);
        expect([reader.heldBytes, reader.bufferedBytes]).toEqual([0, 0]);
      }),
    );
  });

  it('takes longer frames from the moment that its limit is raised', () => {
    const reader = new FrameReader(10);
    reader.push(framed(Buffer.alloc(10), Buffer.alloc(11)));
    expect(reader.next()).toHaveLength(10);
    expect(() => reader.next()).toThrow(FrameError);
    reader.frameBytesMax = 11;
    expect(reader.next()).toHaveLength(11);
  });
});
