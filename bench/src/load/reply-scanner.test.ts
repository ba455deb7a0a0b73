/**
 * The scanner finds the same frames wherever the stream is cut: every cut of a short stream is
 * tried.
 */
import { FrameError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ReplyScanner } from './reply-scanner.js';

function frame(text: string): Buffer {
  const bytes = Buffer.alloc(4 + text.length);
  bytes.writeInt32BE(text.length);
  bytes.write(text, 4, 'latin1');
  return bytes;
}

function scanner(into: string[]): ReplyScanner {
  return new ReplyScanner((view, at, length) => {
    into.push(Buffer.from(view.buffer, view.byteOffset + at, length).toString('latin1'));
  });
}

describe('ReplyScanner', () => {
  it('finds the same frames wherever the stream is cut, in memory that is reused', () => {
    const texts = ['one', '', 'three three', 'x'.repeat(300)];
    const stream = Buffer.concat(texts.map(frame));
    for (let chunkBytes = 1; chunkBytes <= stream.length; chunkBytes++) {
      const seen: string[] = [];
      const target = scanner(seen);
      const memory = Buffer.alloc(chunkBytes);
      for (let at = 0; at < stream.length; at += chunkBytes) {
        const copied = stream.copy(memory, 0, at, at + chunkBytes);
        target.scan(memory.subarray(0, copied));
        memory.fill(0xff);
      }
      expect(seen).toEqual(texts);
    }
  });

  it('rejects a negative length', () => {
    expect(() => scanner([]).scan(Buffer.from([0xff, 0, 0, 0]))).toThrowError(FrameError);
  });
});
