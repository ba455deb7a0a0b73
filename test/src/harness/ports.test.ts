/**
 * Ports that were handed out must not be handed out again while their owner may not be listening
 * yet.
 */
import { expect, it, vi } from 'vitest';
import { freePorts } from './ports.js';

const MORE_THAN_A_BLOCK = 600;

it('no port is handed out twice, in one call, in successive calls, or in concurrent ones', async () => {
  const calls = await Promise.all([freePorts(40), freePorts(40), freePorts(40)]);
  const later = await freePorts(MORE_THAN_A_BLOCK);
  expect(new Set([...calls.flat(), ...later]).size).toBe(120 + MORE_THAN_A_BLOCK);
});

it('two processes that run at the same time are handed out different ports', async () => {
  const given = await freePorts(MORE_THAN_A_BLOCK);
  for (let others = 0; others < 4; others += 1) {
    // A separate module instance stands for another process.
    vi.resetModules();
    const other = await import('./ports.js');
    given.push(...(await other.freePorts(MORE_THAN_A_BLOCK)));
  }
  expect(new Set(given).size).toBe(5 * MORE_THAN_A_BLOCK);
});
