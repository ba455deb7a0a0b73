/** Against zlib's own: the last four bytes of what it compresses are the checksum. */
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Adler32 } from './byte-cursor.js';

it('is that of zlib, in whatever parts the bytes come', () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 20_000 }), { maxLength: 4 });
  fc.assert(
    fc.property(parts, (all) => {
      const adler = new Adler32();
      for (const part of all) adler.update(part);
      const compressed = deflateSync(Buffer.concat(all));
      expect(adler.value).toBe(compressed.readUInt32BE(compressed.length - 4));
    }),
    { numRuns: 50 },
  );
});

it('does not overflow where every byte is the largest', () => {
  const bytes = Buffer.alloc(1 << 20, 0xff);
  const adler = new Adler32();
  adler.update(bytes);
  const compressed = deflateSync(bytes);
  expect(adler.value).toBe(compressed.readUInt32BE(compressed.length - 4));
});
