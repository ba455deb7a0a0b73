/** The exact point at which an answer becomes too long, and what happens to the rest of it. */
import { expect, it } from 'vitest';
import { textUpTo } from './http.js';

it('reads all of an answer that has as many characters as it may have', async () => {
  async function* parts() {
    // The first part ends within the character.
    yield Uint8Array.of(0xc3);
    yield Uint8Array.of(0xa4, 0x62);
  }
  expect(await textUpTo(parts(), 2)).toBe('äb');
});

it('stops behind the part that has one character more, and lets go of the answer', async () => {
  let given = 0;
  let isLetGo = false;
  async function* endless() {
    try {
      for (;;) {
        given += 1;
        yield Buffer.from('ab');
      }
    } finally {
      isLetGo = true;
    }
  }
  expect(await textUpTo(endless(), 3)).toBe('abab');
  expect([given, isLetGo]).toEqual([2, true]);
});
