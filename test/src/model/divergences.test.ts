/** The divergences that the tests know are exactly those that docs/compatibility.md lists. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../harness/product.js';
import { divergenceNames, SHOWN_ELSEWHERE } from './divergences.js';

/** The first cells of the section's table. */
function namesIn(page: string): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith('Divergences'));
  const rows = (section ?? '').split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(1).map((row) => row.split(' | ')[0]?.slice(2) ?? '');
}

it('the table of docs/compatibility.md and that of the tests name the same divergences', () => {
  const told = namesIn(readFileSync(join(REPOSITORY, 'docs/compatibility.md'), 'utf8'));
  expect(told.length).toBeGreaterThan(20);
  expect(new Set(told).size, 'each name once').toBe(told.length);
  expect([...told].sort()).toEqual([...divergenceNames()].sort());
});

it('every divergence that the model does not cover is shown by a test that exists', () => {
  const files = Object.values(SHOWN_ELSEWHERE);
  expect(files.filter((file) => !existsSync(join(REPOSITORY, file)))).toEqual([]);
});
