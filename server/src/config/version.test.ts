/** Goal: what members tell each other is the version that the packages have. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RELEASE } from './version.js';

it.each(['', 'server/', 'client/', 'protocol/', 'cli/'])(
  '%spackage.json is of the release',
  (at) => {
    const file = new URL(`../../../${at}package.json`, import.meta.url);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: RELEASE });
  },
);
