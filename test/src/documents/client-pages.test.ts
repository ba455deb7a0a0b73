/**
 * Goal: whoever looks for a recipe or an error finds its page. Method: compare the pages in
 * docs/client with what the library exports. Their programs are type-checked by snippets.test.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as library from '@rookery/client';
import * as protocol from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { root } from '../tidy/source.js';
import { blocksOf, linksOf } from './pages.js';

const FOLDER = join(root, 'docs/client');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

const recipes = readdirSync(join(FOLDER, 'recipes')).filter((name) => name !== 'README.md');
const classes = Object.entries(library)
  .filter(([, value]) => typeof value === 'function' && /^class\b/.test(String(value)))
  .map(([name]) => name);

describe.each(recipes)('the page of the recipe %s', (name) => {
  it('says when to use it and when not, shows it, and is linked where one chooses', () => {
    const text = read(`recipes/${name}`);
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Use it when', 'Do not use it when', 'Example', 'What to know']);
    for (const section of text.split(/^## /m).slice(1)) {
      if (!section.startsWith('Example')) expect(section).toMatch(/^- /m);
    }
    const [block, ...more] = blocksOf(text);
    expect(block?.language).toBe('ts');
    expect(more).toEqual([]);
    expect(linksOf(read('recipes/README.md'))).toContain(name);
  });
});

it('each recipe of the library is in the program of a page', () => {
  const programs = recipes.map((name) => read(`recipes/${name}`)).join('\n');
  const helpers = /Error$|^(?:BackgroundRecipe|ClientMetrics|IdempotentEntry)$/;
  // The first is a variant that its page explains; the others are given by a ServiceDiscovery.
  const isMade = (name: string) =>
    !/^(?:MultiNonBlockingLease|ServiceCache|ServiceProvider)$/.test(name);
  const missing = classes
    .filter((name) => !helpers.test(name))
    .filter((name) => {
      const use = isMade(name) ? `new ${name}\\b|${name}\\.` : name;
      return !new RegExp(use).test(programs);
    });
  expect(missing).toEqual([]);
});

it('the page of errors has each class of the library, and no other', () => {
  const text = read('errors.md');
  const rows = [...text.matchAll(/^\| (`.*?) \| /gm)].map(([, cell = '']) => cell);
  const listed = rows
    .flatMap((cell) => [...cell.matchAll(/`(\w+Error)`/g)].map(([, name]) => name))
    .toSorted();
  const abstracts = ['ClientError'];
  const errors = Object.keys(library).filter((name) => name.endsWith('Error'));
  expect(listed).toEqual([...new Set([...errors, ...abstracts])].toSorted());
});

it('the library exports each class of error that a server can answer with', () => {
  const classes = Object.entries(protocol).filter(
    ([, value]) => typeof value === 'function' && value.prototype instanceof protocol.KeeperError,
  );
  const answers = classes.map(([name]) => name);
  expect(answers.length).toBeGreaterThan(30);
  expect(answers.filter((name) => !(name in library))).toEqual([]);
});
