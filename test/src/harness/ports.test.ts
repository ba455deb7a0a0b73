/** Ports that were given must not be given again while their owner may not listen yet. */
import { expect, it } from 'vitest';
import { freePorts } from './ports.js';

it('no port is given twice, in one call, in the next, or at once', async () => {
  const calls = await Promise.all([freePorts(40), freePorts(40), freePorts(40)]);
  const later = await freePorts(40);
  expect(new Set([...calls.flat(), ...later]).size).toBe(160);
});
