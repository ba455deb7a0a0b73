/**
 * Goal: each recipe and each error has its place in the documents. Method: compare the pages in
 * docs/client with what the library exports. Their programs are type-checked by snippets.test.ts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as library from '@rookery/client';
import * as protocol from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { root } from '../tidy/source.js';
import { anchorsOf, blocksOf, linksOf } from './pages.js';

const FOLDER = join(root, 'docs/client');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

const families = readdirSync(join(FOLDER, 'recipes')).filter((name) => name !== 'README.md');
/** The sections of the families' pages that show a recipe; others hold for the whole family. */
const recipes = families.flatMap((name) => {
  const [, ...sections] = read(`recipes/${name}`).split(/^## /m);
  return sections
    .filter((text) => blocksOf(text).length > 0 || text.includes('**Use'))
    .map((text) => ({ page: name, heading: text.slice(0, text.indexOf('\n')), text }));
});
const classes = Object.entries(library)
  .filter(([, value]) => typeof value === 'function' && /^class\b/.test(String(value)))
  .map(([name]) => name);

it('the families have as many recipes as there are to choose from', () => {
  expect(recipes.length).toBe(38);
});

describe.each(recipes)('the recipe $heading in $page', ({ page, heading, text }) => {
  it('says when to use it and when not, shows it, and is linked where one chooses', () => {
    const parts = /^\*\*Use it when\*\*\n\n- .*^\*\*Use something else when\*\*\n\n- .*^```/ms;
    expect(text).toMatch(parts);
    const [example, notes = ''] = text.split(/^```$/m);
    expect(notes, 'what to know, after the example').toMatch(/^- /m);
    expect(example).toContain('```ts\n');
    expect(blocksOf(text)).toHaveLength(1);
    const [anchor = ''] = anchorsOf(`## ${heading}`);
    expect(linksOf(read('recipes/README.md'))).toContain(`${page}#${anchor}`);
    expect(linksOf(read(`recipes/${page}`)), 'the table of the family').toContain(`#${anchor}`);
  });
});

it('each recipe of the library is in the program of a page', () => {
  const programs = recipes.map(({ text }) => text).join('\n');
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
