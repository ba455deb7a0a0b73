/**
 * No checker is written and tested without being used in runs: whatever a file of a checker exports
 * is named by another file, and no property is watched twice.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { FACTS } from '../checkers/clients/small-history.js';
import { ALL_CHECKERS } from './checkers.js';

const SIMULATION = fileURLToPath(new URL('..', import.meta.url));
const FACTORY = /^export (?:const|function) (new[A-Z]\w*)/gm;

it('every checker that exists watches a run', () => {
  const texts = sourcesBelow('checkers').concat(sourcesBelow('run'));
  const factories = texts.flatMap((text) => [...text.matchAll(FACTORY)].map(([, name]) => name));
  expect(factories.length).toBeGreaterThan(20);
  for (const name of factories) {
    const namedIn = texts.filter((text) => new RegExp(`\\b${name}\\b`).test(text));
    expect(namedIn.length, `files that name ${name}, its own among them`).toBeGreaterThan(1);
  }
});

it('each property is watched once', () => {
  const properties = ALL_CHECKERS.map((newChecker) => newChecker(FACTS).property);
  expect(new Set(properties).size).toBe(properties.length);
  expect(properties).toContain('each znode is linearizable, writes and sync + read');
});

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(SIMULATION, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(SIMULATION, folder, name), 'utf8'));
}
