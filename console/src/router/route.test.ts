import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hrefOf, parseRoute } from './route.js';

it('reads a page and its query from a hash', () => {
  const { page, query } = parseRoute('#/node?path=/a/b&tab=acl');
  expect([page, query.get('path'), query.get('tab')]).toEqual(['node', '/a/b', 'acl']);
  expect(parseRoute('').page).toBe('');
  expect(parseRoute('#/sessions').page).toBe('sessions');
});

it('leads back to any path of a znode', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (name) => {
      expect(parseRoute(hrefOf('node', { path: `/${name}` })).query.get('path')).toBe(`/${name}`);
    }),
  );
});
