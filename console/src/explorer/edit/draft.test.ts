import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contentOf } from '../data/detect.js';
import { BYTES_MAX, bytesOfDraft, draftOf, inFormOf, warningOf } from './draft.js';

it('writes back byte for byte what nobody touched', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (data) => {
      const bytes = Uint8Array.from(data);
      const draft = draftOf(await contentOf(bytes, '/a'), 3);
      expect(await bytesOfDraft(draft)).toEqual(bytes);
      expect(draft.version).toBe(3);
    }),
  );
});

it('edits what is inside of gzip, and zips it again', async () => {
  const draft = draftOf(await contentOf(Uint8Array.from(gzipSync('{"a":1}')), '/a'), 0);
  expect(draft).toMatchObject({ form: 'text', isZipped: true, text: '{"a":1}' });
  const written = await bytesOfDraft({ ...draft, text: '{"a":2}' });
  if (typeof written === 'string') throw new Error(written);
  expect((await contentOf(written, '/a')).body).toMatchObject({ text: '{"a":2}' });
});

it('refuses what cannot be written, in a sentence', async () => {
  const binary = draftOf(await contentOf(Uint8Array.of(0, 255), '/a'), 0);
  expect(await bytesOfDraft({ ...binary, text: '0' })).toMatch(/^This is not hex/);
  const text = draftOf(await contentOf(new Uint8Array(), '/a'), 0);
  expect(await bytesOfDraft({ ...text, text: 'x'.repeat(BYTES_MAX) })).toHaveLength(BYTES_MAX);
  expect(await bytesOfDraft({ ...text, text: 'x'.repeat(BYTES_MAX + 1) })).toMatch(/at most\.$/);
});

it('does not take text for what is none by now', async () => {
  const text = draftOf(await contentOf(Uint8Array.of(0x61), '/a'), 0);
  expect(inFormOf(text, await contentOf(Uint8Array.of(0x62), '/a'))).toBe('b');
  expect(inFormOf(text, await contentOf(Uint8Array.of(0, 255), '/a'))).toBeNull();
  expect(inFormOf(text, await contentOf(Uint8Array.from(gzipSync('b')), '/a'))).toBeNull();
});

it('warns when JSON is no longer JSON', async () => {
  const json = draftOf(await contentOf(new TextEncoder().encode('{"a":1}'), '/a'), 0);
  expect(warningOf({ ...json, text: '{"a":1' })).toBe('This was JSON and is no longer.');
  expect(warningOf({ ...json, text: '[]' })).toBeNull();
});
