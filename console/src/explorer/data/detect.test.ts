import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bodyOf, contentOf, textOf, UNZIPPED_MAX, zipped } from './detect.js';
import { bytesOfHex, hexLine, hexText } from './hex.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const languageOf = (text: string) => {
  const body = bodyOf(bytesOf(text));
  return body.kind === 'text' ? body.language : body.kind;
};

it('tells languages apart', () => {
  expect(languageOf('{"a": [1, 2]}')).toBe('json');
  expect(languageOf('{"a": [1, 2')).toBe('text');
  expect(languageOf('<?xml version="1.0"?><a/>')).toBe('xml');
  expect(languageOf('<configuration>\n<a>1</a></configuration>\n')).toBe('xml');
  expect(languageOf('a < b and c > d')).toBe('text');
  expect(languageOf('name: x\nports:\n  - 80\n')).toBe('yaml');
  expect(languageOf('a.b=1\n# c\nd.e = 2\n')).toBe('properties');
  expect(languageOf('10.0.0.1')).toBe('text');
  expect(languageOf('http://a.b:80/c')).toBe('text');
  expect(languageOf('')).toBe('text');
});

it('takes for text only what is UTF-8 without loss', () => {
  expect(textOf(Uint8Array.of(0xc3, 0x28))).toBeNull();
  expect(textOf(Uint8Array.of(0, 1, 2, 3))).toBeNull();
  expect(textOf(bytesOf('\ufeffétude 日本\t\r\n'))).toBe('\ufeffétude 日本\t\r\n');
});

it('opens gzip and looks at what is inside, within a bound', async () => {
  const inside = '{"a":1}';
  const opened = await contentOf(Uint8Array.from(gzipSync(inside)), '/a');
  expect(opened.body).toMatchObject({ kind: 'text', text: inside, language: 'json' });
  const again = await contentOf(await zipped(Uint8Array.from(bytesOf(inside))), '/a');
  expect(again.unzipped).toEqual(bytesOf(inside));
  const bomb = await contentOf(Uint8Array.from(gzipSync(new Uint8Array(UNZIPPED_MAX + 1))), '/a');
  expect([bomb.unzipped, bomb.zipProblem]).toEqual([
    null,
    'What is inside of gzip is larger than 16 MB.',
  ]);
  const damaged = await contentOf(Uint8Array.of(0x1f, 0x8b, 8, 0, 1), '/a');
  expect([damaged.body.kind, damaged.zipProblem]).toEqual([
    'binary',
    'This begins like gzip and is damaged.',
  ]);
});

it('does not highlight what is nested too deeply', () => {
  for (const text of ['['.repeat(1e6), '<a>'.repeat(3e5), '- '.repeat(3e5), '((('.repeat(1e5)]) {
    expect(bodyOf(bytesOf(text)), text.slice(0, 3)).toMatchObject({ isTooDeep: true });
  }
  expect(bodyOf(bytesOf(`<a>${'<b/>'.repeat(1_000)}</a>`))).toMatchObject({ isTooDeep: false });
});

it('recognizes what recipes write', async () => {
  const payload = async (hex: string, path = '/a') =>
    (await contentOf(bytesOfHex(hex) ?? new Uint8Array(), path)).payload;
  const queue = await payload('00010001 01 00000002 6869 01 00000000 02');
  expect(queue?.items).toEqual([bytesOf('hi'), new Uint8Array()]);
  expect(await payload('00010001 01 7fffffff 68 02')).toBeNull();
  expect(await payload('00010001 01 ffffffff 02')).toBeNull();
  expect((await payload('ffffffffffffffff'))?.facts).toEqual([['Value', '-1']]);
  expect((await payload('00000007'))?.facts).toEqual([['Value', '7']]);
  expect(await payload('31323334')).toBeNull();
  const lock = await payload('31302e302e302e31', '/locks/a/_c_1-lock-0000000012');
  expect(lock?.facts).toEqual([
    ['Its place in the queue', '12'],
    ['It says of itself', '10.0.0.1'],
  ]);
});

it('writes hex that can be read back', () => {
  const bytes = Uint8Array.from({ length: 40 }, (_, index) => (index * 37) % 256);
  expect(bytesOfHex(hexText(bytes))).toEqual(bytes);
  expect([bytesOfHex('0'), bytesOfHex('0g'), bytesOfHex('')]).toEqual([
    null,
    null,
    new Uint8Array(),
  ]);
  expect(hexLine(bytesOf('<b>0123456789abcdef'), 0)).toEqual({
    offset: '000000',
    hex: '3c 62 3e 30 31 32 33 34  35 36 37 38 39 61 62 63',
    text: '<b>0123456789abc',
  });
});
