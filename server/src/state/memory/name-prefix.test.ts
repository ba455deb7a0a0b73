/** Goal: keys never contradict the order of names, whatever the prefix, and decide most of it. */
import { viewOf } from '@rookery/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NamePrefix } from './name-prefix.js';

const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'Z', '~', '\x7f', 'ä', '日', '\u{1f600}'),
  maxLength: 9,
});

it('orders names as their code units do, or leaves it open', () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 3 }), name, name, (shared, a, b) => {
      const prefix = new NamePrefix(shared);
      expect(shared.filter((one) => !one.startsWith(prefix.text))).toEqual([]);
      const [x, y] = [prefix.keyOf(a), prefix.keyOf(b)];
      if (a === b) expect(x).toBe(y);
      if (a < b) expect(x).toBeLessThanOrEqual(y);
      if (a > b) expect(x).toBeGreaterThanOrEqual(y);
      for (const one of [a, b]) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what it asks for.
        if (!/^[\x00-\x7f]*$/.test(one)) continue;
        const bytes = viewOf(Buffer.from(`??${one}??`));
        expect(prefix.keyOfAscii(bytes, 2, one.length)).toBe(prefix.keyOf(one));
      }
    }),
    { numRuns: 2_000 },
  );
});

it('tells apart what differs within six characters behind the prefix', () => {
  const prefix = new NamePrefix(['lock-0000000003', 'lock-0000099999', 'lock-0000012345']);
  expect(prefix.text).toBe('lock-00000');
  const inOrder = ['lock-00000', 'lock-0000000001', 'lock-0000000002', 'lock-00001'];
  const keys = inOrder.map((one) => prefix.keyOf(one));
  expect(keys).toEqual([...new Set(keys)].sort((a, b) => a - b));
  // Those outside of the prefix are below and above all of them.
  expect(prefix.keyOf('lock')).toBe(prefix.keyOf(''));
  expect(prefix.keyOf('lock')).toBeLessThan(keys[0] ?? 0);
  expect(prefix.keyOf('locks')).toBeGreaterThan(keys.at(-2) ?? 0);
});

it('is empty where there is nothing to share', () => {
  for (const names of [[], ['only'], ['a', 'b'], ['ä1', 'ä2']]) {
    expect(new NamePrefix(names).text).toBe('');
  }
});

it('gives bytes the keys of their names, however long the prefix is and wherever they differ', () => {
  for (let length = 0; length < 14; length++) {
    const text = 'service-number'.slice(0, length);
    const prefix = new NamePrefix([`${text}0`, `${text}1`]);
    expect(prefix.text).toBe(text);
    for (let at = 0; at <= length; at++) {
      for (const tail of ['', '!', '~', '!000000', '~000000', 'number-0000001']) {
        const name = text.slice(0, at) + tail;
        const bytes = viewOf(Buffer.from(`??${name}`));
        expect(prefix.keyOfAscii(bytes, 2, name.length), name).toBe(prefix.keyOf(name));
      }
    }
  }
});
