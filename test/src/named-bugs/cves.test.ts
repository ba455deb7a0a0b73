/**
 * Each vulnerability that ZooKeeper has published has a test with its number in its name, and a row
 * in SECURITY.md; what cannot happen here for lack of the thing itself says so there.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../mutants/workspace.js';

const PUBLISHED = [
  ...['CVE-2016-5017', 'CVE-2017-5637', 'CVE-2018-8012', 'CVE-2019-0201', 'CVE-2023-44981'],
  ...['CVE-2024-23944', 'CVE-2024-51504', 'CVE-2025-58457', 'CVE-2026-24281', 'CVE-2026-24308'],
];

function sources(folder: string, suffix: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(suffix) && !/(^|\/)(node_modules|dist)\//.test(path))
    .map((path) => join(folder, path));
}
function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

describe('the table of SECURITY.md', () => {
  const rows = textOf('SECURITY.md')
    .split('\n')
    .filter((line) => line.startsWith('| CVE-'))
    .map((line) => line.split('|').map((cell) => cell.trim()));

  it('has every vulnerability once', () => {
    expect(rows.map(([, name]) => name)).toEqual(PUBLISHED);
  });

  it.each(rows)('%s%s: its test is where the table says, with the number in its name', (...row) => {
    const [, name = '', , , where = ''] = row;
    const files = [...where.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    if (files.length === 0) expect(where).toMatch(/^nothing to test: /);
    for (const file of files) expect(textOf(file), file).toContain(name);
  });
});

describe('the name of an address', () => {
  it('CVE-2026-24281: is never asked for, so nobody can be somebody by reverse DNS', () => {
    const files = ['protocol', 'server', 'client', 'cli'].flatMap((name) =>
      sources(`${name}/src`, '.ts').filter((path) => !path.endsWith('.test.ts')),
    );
    expect(files.length).toBeGreaterThan(300);
    const asks = /\b(lookupService|resolvePtr|reverse\w*)\b[^;]*from 'node:dns|\bdns\.reverse\b/;
    const asking = files.filter((path) => asks.test(textOf(path)));
    expect(asking).toEqual([]);
  });
});
