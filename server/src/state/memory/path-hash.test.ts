import { describe, expect, it } from 'vitest';
import { collidingNames } from '../../simulated/state/colliding-names.js';
import { hashPath } from './hash.js';
import { KeyedRandom, KNOWN_PATH_KEY, PathHash, pathKeyOf } from './path-hash.js';

const VECTORS = [
  0x5814c896, 0xe7e864ca, 0xbc4b0e30, 0x01539939, 0x7e059ea6, 0x88e3d89b, 0xa0080b65, 0x9d38d9d6,
  0x577999b1, 0xc839caed, 0xe4fa32cf, 0x959246ee, 0x6b28096c, 0x66dd9cd6, 0x16658a7c, 0xd0257b04,
];

function viewOf(text: string): DataView {
  const bytes = Buffer.from(text);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

describe('the hash by which paths are found', () => {
  it('is HalfSipHash-1-3', () => {
    const hash = new PathHash(KNOWN_PATH_KEY);
    for (const [length, vector] of VECTORS.entries()) {
      const text = String.fromCharCode(...Array.from({ length }, (_, unit) => unit));
      expect(hash.of(text) >>> 0).toBe(vector);
      expect(hash.ofBytes(viewOf(text), 0, length) >>> 0).toBe(vector);
    }
  });

  it('is the same for a string, for its bytes, and for a prefix followed by a name', () => {
    const hash = new PathHash(pathKeyOf(Uint8Array.from([7, 1, 9, 200, 3, 5, 250, 99])));
    const names = [
      'a',
      'ab',
      'abc',
      'abcd',
      'n0000000001',
      'ä',
      'пять',
      'a€',
      '\u{1f600}',
      'ÿ',
      '\ud800',
    ];
    for (const prefix of ['/', '/a/', '/abc/', '/ab/cdef/', '/dir/', '/é/', '/x/пуст/yz/']) {
      for (const name of names) {
        const path = prefix + name;
        const bytes = Buffer.from(path);
        expect(hash.ofBytes(viewOf(path), 0, bytes.length)).toBe(hash.of(path));
        const isWide = Buffer.byteLength(name) > name.length;
        const stored = Buffer.from(`..${name}`, isWide ? 'utf16le' : 'latin1');
        const unitBytes = isWide ? 2 : 1;
        const place = {
          bytes: stored,
          start: 2 * unitBytes,
          end: stored.length,
          unitBytes,
        } as const;
        expect(hash.ofName(hash.prefixOf(prefix), place)).toBe(hash.of(path));
      }
    }
  });

  it('is the same for paths longer than what is kept, and after them', () => {
    const hash = new PathHash(KNOWN_PATH_KEY);
    const short = hash.of('/a');
    for (const [prefix, name] of [
      ['/', 'x'.repeat(5000)],
      [`/${'y'.repeat(4094)}/`, 'n'],
      [`/${'y'.repeat(4093)}/`, 'n'],
      ['/', 'ä'.repeat(2000)],
    ] as const) {
      const path = prefix + name;
      const isWide = name.startsWith('ä');
      const bytes = Buffer.from(name, isWide ? 'utf16le' : 'latin1');
      const place = { bytes, start: 0, end: bytes.length, unitBytes: isWide ? 2 : 1 } as const;
      const expected = hash.ofBytes(viewOf(path), 0, Buffer.byteLength(path));
      expect(hash.of(path)).toBe(expected);
      expect(hash.ofName(hash.prefixOf(prefix), place)).toBe(expected);
      expect(hash.of('/a')).toBe(short);
    }
  });

  it('differs with each half of the key', () => {
    const hashes = [
      { low: 1, high: 2 },
      { low: 1, high: 3 },
      { low: 2, high: 2 },
    ].map((key) => new PathHash(key).of('/path'));
    expect(new Set(hashes).size).toBe(3);
  });

  it('scatters paths that were chosen to collide in the hash of the digest', () => {
    const hash = new PathHash(pathKeyOf(Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8])));
    const paths = collidingNames(4096).map((name) => `/dir/${name}`);
    expect(new Set(paths.map(hashPath)).size).toBe(1);
    expect(new Set(paths.map((path) => hash.of(path))).size).toBeGreaterThan(4090);
  });
});

it('draws each number about as often as others, below the limit alone', () => {
  const random = new KeyedRandom(KNOWN_PATH_KEY);
  const counts = Array.from({ length: 16 }, () => 0);
  for (let count = 0; count < 16_000; count++) {
    const drawn = random.below(16);
    counts[drawn] = (counts[drawn] ?? Number.NaN) + 1;
  }
  expect(counts.length).toBe(16);
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(200);
});

it('draws other numbers with another key, and the same ones with the same', () => {
  const drawn = (key: typeof KNOWN_PATH_KEY) => {
    const random = new KeyedRandom(key);
    return Array.from({ length: 20 }, () => random.below(1_000_000));
  };
  const other = pathKeyOf(Uint8Array.from([7, 1, 9, 200, 3, 5, 250, 99]));
  expect(drawn(KNOWN_PATH_KEY)).toEqual(drawn(KNOWN_PATH_KEY));
  const [one, two] = [drawn(KNOWN_PATH_KEY), drawn(other)];
  expect(one.filter((number, index) => number === two[index])).toEqual([]);
});
