import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hrefOf, parseRoute } from './route.js';

const character = fc
  .integer({ min: 1, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

it('reads a page and its query from a hash', () => {
  const { page, query } = parseRoute('#/node?path=/a/b&tab=acl');
  expect([page, query.get('path'), query.get('tab')]).toEqual(['node', '/a/b', 'acl']);
  expect(parseRoute('').page).toBe('');
  expect(parseRoute('#/sessions').page).toBe('sessions');
});

it('leads back to any path of a znode', () => {
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 40 }), (name) => {
      expect(parseRoute(hrefOf('node', { path: `/${name}` })).query.get('path')).toBe(`/${name}`);
    }),
  );
});
