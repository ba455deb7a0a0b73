/** Permissions as letters and back. */
import { expect, it } from 'vitest';
import { Perms, permsOf, permsText } from './opcodes.js';

it('every set of permissions is read as it was written', () => {
  for (let perms = 0; perms <= Perms.all; perms++) expect(permsOf(permsText(perms))).toBe(perms);
  expect([permsText(Perms.all), permsText(Perms.read | Perms.admin)]).toEqual(['cdrwa', 'ra']);
  expect(permsOf('arwdc')).toBe(Perms.all);
});
