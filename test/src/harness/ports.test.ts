/** Ports that were given must not be given again while their owner may not listen yet. */
import { expect, it, vi } from 'vitest';
import { freePorts } from './ports.js';

const MORE_THAN_A_BLOCK = 600;

it('no port is given twice, in one call, in the next, or at once', async () => {
  const calls = await Promise.all([freePorts(40), freePorts(40), freePorts(40)]);
  const later = await freePorts(MORE_THAN_A_BLOCK);
  expect(new Set([...calls.flat(), ...later]).size).toBe(120 + MORE_THAN_A_BLOCK);
});

it('what one was given, nobody else is who runs at the same time', async () => {
  const given = await freePorts(MORE_THAN_A_BLOCK);
  for (let others = 0; others < 4; others += 1) {
    // A module of its own, as another process has.
    vi.resetModules();
    const other = await import('./ports.js');
    given.push(...(await other.freePorts(MORE_THAN_A_BLOCK)));
  }
  expect(new Set(given).size).toBe(5 * MORE_THAN_A_BLOCK);
});
