import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lineBreakOf } from './line-breaks.js';
import { conflictCount, LINES_MAX, mergedRegions, mergedText } from './merge.js';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 8 })
  .map((l) => l.join('\n'));

it('keeps both changes where they are in different lines', () => {
  const base = 'one\ntwo\nthree\nfour\nfive';
  const regions = mergedRegions({
    base,
    mine: base.replace('one', 'ONE'),
    theirs: base.replace('five', 'FIVE'),
  });
  expect(conflictCount(regions ?? [])).toBe(0);
  expect(mergedText(regions ?? [], [])).toBe('ONE\ntwo\nthree\nfour\nFIVE');
});

it('asks where both changed the same lines, and takes what is chosen', () => {
  const regions = mergedRegions({ base: 'a\nx\nb', mine: 'a\nM\nb', theirs: 'a\nT\nb' }) ?? [];
  expect(conflictCount(regions)).toBe(1);
  expect(mergedText(regions, ['mine'])).toBe('a\nM\nb');
  expect(mergedText(regions, ['theirs'])).toBe('a\nT\nb');
  expect(mergedText(regions, ['both'])).toBe('a\nM\nT\nb');
  expect(mergedText(regions, ['base'])).toBe('a\nx\nb');
});

it('gives back a text that only one has changed, and a text that both have made', () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      const merge = (versions: Parameters<typeof mergedRegions>[0]) => {
        const regions = mergedRegions(versions) ?? [];
        expect(conflictCount(regions)).toBe(0);
        return mergedText(regions, []);
      };
      expect(merge({ base, mine: changed, theirs: base })).toBe(changed);
      expect(merge({ base, mine: base, theirs: changed })).toBe(changed);
      expect(merge({ base, mine: changed, theirs: changed })).toBe(changed);
    }),
  );
});

it('does not merge what would take too long', () => {
  const long = '\n'.repeat(LINES_MAX);
  expect(mergedRegions({ base: '', mine: long, theirs: '' })).toBeNull();
});

it('knows the line breaks of a text', () => {
  expect(['a', 'a\nb', 'a\r\nb\r\n', 'a\rb', 'a\r\nb\n', 'a\rb\n'].map(lineBreakOf)).toEqual([
    ...['\n', '\n', '\r\n', '\r', '\n', '\n'],
  ]);
});
