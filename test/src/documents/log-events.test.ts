/**
 * The operators' table of events lists each warning and error that a member logs. Another test, of
 * all pages, checks the reverse: the events that the table names exist.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, sourceFiles } from '../tidy/source.js';

const MEMBER = /^(server\/src\/|cli\/src\/(server-command|service-manager)\.ts$)/;
const NOT_OF_A_MEMBER = /\.test\.ts$|\/(simulated|testing)\//;
const LOGGED = /\.(?:warn|error|fatal)\([^;]*?'([a-z]+\.[a-z][a-z_-]+)(?=['`:])/g;
/** Troubles between members; a level that is not written out is a warning or an error. */
const REPORTED = /\blevel(?:: '(?:warn|error)')?, event: '([a-z]+\.[a-z_]+)'/g;
/** Those of certificates and the like, whose level depends on the time that is left. */
const OF_EXPIRY = /\b(?:ending|expired): '([a-z]+\.[a-z_]+)'/g;
/** The core has no logger: the driver lists which of its notes are warnings or errors. */
const DRIVER = 'server/src/driver/driver.ts';
const NOTED = /const (?:ERRORS|WARNINGS): ReadonlySet<string> = new Set\(\[([^\]]*)\]\)/g;
const QUOTED = /'([a-z]+\.[a-z_]+)'/g;

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

/** The core's notes at warning or error level. */
function notedIn(text: string): string[] {
  return namesIn(text, NOTED).flatMap((list) => namesIn(list, QUOTED));
}

it('the table of events has every event at warning or error level', () => {
  const sources = sourceFiles();
  const noted = sources.flatMap(({ path, text }) => (path === DRIVER ? notedIn(text) : []));
  expect(noted).toContain('history.diverged');
  expect(noted).toContain('role.looking');
  const events = sources
    .filter(({ path }) => MEMBER.test(path) && !NOT_OF_A_MEMBER.test(path))
    .flatMap(({ text }) => [
      ...namesIn(text, LOGGED),
      ...namesIn(text, REPORTED),
      ...namesIn(text, OF_EXPIRY),
    ])
    .concat(noted);
  const page = readFileSync(join(root, 'docs/operations/log-events.md'), 'utf8');
  const [, logs = ''] = page.split('\n## Warnings and errors\n');
  const [table = ''] = logs.split('\n## ');
  const cells = table.split('\n').map((line) => line.split('|')[1] ?? '');
  const listed = new Set(cells.flatMap((cell) => namesIn(cell, /`([^`]+)`/g)));
  expect(new Set(events).size).toBeGreaterThan(50);
  expect([...new Set(events)].filter((event) => !listed.has(event)).sort()).toEqual([]);
});
