import { expect, it } from 'vitest';
import { provenBy } from './proven-identity.js';

it('takes a certificate whose subject cannot be read for nobody, and goes on', () => {
  expect(provenBy({ certificate: Uint8Array.of(0x30, 0x03, 0x1f, 0x81, 0x00) })).toEqual([]);
  expect(provenBy({ certificate: null })).toEqual([]);
});
