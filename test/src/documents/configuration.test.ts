/** The configuration reference is what the server applies: it is rendered again and compared. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../tidy/source.js';
import { configurationReference, REFERENCE } from './configuration-reference.js';

it('docs/configuration.md is what `npm run docs:configuration` writes', () => {
  expect(readFileSync(join(root, REFERENCE), 'utf8')).toBe(configurationReference());
});
