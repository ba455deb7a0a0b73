/**
 * The documents are short enough to be read, and everything that they refer to exists. The test
 * reads every Markdown file of the repository as text, and every mention of one in the sources.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sourceFiles } from '../tidy/source.js';
import { anchorsOf, codeSpansOf, linksOf, pages, paragraphsOf, proseOf } from './pages.js';

const WORDS_MAX = 120;
const LINES_MAX: Readonly<Record<string, number>> = { 'README.md': 120, 'ARCHITECTURE.md': 150 };
/** The folders with which a path in backticks may begin. */
const BASES = ['', 'server/src/', 'client/src/', 'test/src/', 'test/src/simulation/'];
const FILE = /^[\w.-]+(\/[\w.-]+)*\.(ts|js|mjs|json|md|txt)$/;
const FOLDER = /^[\w.-]+(\/[\w.-]+)*\/$/;
/** The pages in which a word that looks like a log event is one: the server's own pages. */
const SERVER_PAGES = /^docs\/(operations\/|limits|architecture\/(?!client))/;
/** Files of a data directory or of a run, which are not in the repository, and a package. */
const MADE_LATER = new Set([
  ...['addresses.json', 'member.json', 'ensemble.json', 'report.json', 'trace.txt', 'report.html'],
  ...['bench/out/bench.json', 'discarded/', 'tree/', 'log/', 'docs/api', 'dist/'],
  ...['dist/index.cjs', 'dist/testing/index.cjs', 'worker.mjs'],
  'chart.js',
]);

const all = pages();
const sources = sourceFiles();
const sourceNames = new Set(sources.map(({ path }) => posix.basename(path)));

describe('a document', () => {
  it('has no row of a table without its header', () => {
    const broken = all.flatMap(({ path, text }) => {
      const lines = proseOf(text).split('\n');
      return lines.flatMap((line, at) => {
        const isFirst = line.startsWith('|') && lines[at - 1]?.startsWith('|') !== true;
        const hasHeader = /^\|[ :|-]+\|$/.test(lines[at + 1] ?? '');
        return isFirst && !hasHeader ? [`${path}: ${line.slice(0, 60)}`] : [];
      });
    });
    expect(broken).toEqual([]);
  });

  it('has no paragraph that is longer than 120 words', () => {
    const long = all.flatMap(({ path, text }) =>
      paragraphsOf(text)
        .filter((one) => one.split(' ').length > WORDS_MAX)
        .map((one) => `${path}: ${one.split(' ').length} words: ${one.slice(0, 60)}`),
    );
    expect(long).toEqual([]);
  });

  it('has a bounded length if it is an entry page', () => {
    for (const [path, linesMax] of Object.entries(LINES_MAX)) {
      const text = all.find((page) => page.path === path)?.text ?? '';
      expect(text.split('\n').length, path).toBeGreaterThan(50);
      expect(text.split('\n').length, path).toBeLessThanOrEqual(linesMax + 1);
    }
  });

  it('links to files and headings that exist', () => {
    const broken = all.flatMap(({ path, text }) =>
      linksOf(text)
        .filter((target) => !leadsSomewhere(path, target))
        .map((target) => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('names files and folders that exist', () => {
    const unknown = all.flatMap(({ path, text }) =>
      codeSpansOf(text)
        .filter((span) => (FILE.test(span) || FOLDER.test(span)) && !isThere(path, span))
        .map((span) => `${path}: ${span}`),
    );
    expect(unknown).toEqual([]);
  });

  it('lists files that a setData passes, which exist', () => {
    const page = all.find(({ path }) => path === 'docs/architecture/life-of-a-request.md');
    const section = (page?.text ?? '').split('### Files and copies of a setData')[1] ?? '';
    const [table = ''] = section.split(/^A setData is copied /m);
    const spans = codeSpansOf(table.slice(table.indexOf('|')));
    const names = new Set(spans.filter((span) => /^[a-z]+\/(?:memory\/)?[a-z-]+$/.test(span)));
    const bases = ['server/src', 'protocol/src'];
    const unknown = [...names].filter(
      (name) => !bases.some((base) => existsSync(join(root, base, `${name}.ts`))),
    );
    expect(names.size).toBeGreaterThan(0);
    expect(unknown).toEqual([]);
  });

  it('names events of the log that the server writes', () => {
    const written = sources.map(({ text }) => text).join('\n');
    const areas = new Set(
      [...written.matchAll(/'([a-z]+)\.[a-z_]+[':]/g)].map(([, area = '']) => area),
    );
    const unknown = all.flatMap(({ path, text }) =>
      (SERVER_PAGES.test(path) ? codeSpansOf(text) : [])
        .filter(
          (span) => /^[a-z]+\.[a-z][a-z_-]+$/.test(span) && areas.has(span.split('.')[0] ?? ''),
        )
        .filter((span) => !FILE.test(span) && !written.includes(`'${span}`))
        .map((span) => `${path}: ${span}`),
    );
    expect(unknown).toEqual([]);
  });

  it('has none of the words that STYLE.md drops', () => {
    const dropped = /\b(?:whoever|nobody|somebody|anew|mend(?:ed|s)?)\b/gi;
    const found = all.flatMap(({ path, text }) =>
      [...(path === 'STYLE.md' ? '' : proseOf(text)).matchAll(dropped)].map(
        ([word]) => `${path}: ${word}`,
      ),
    );
    expect(found).toEqual([]);
  });

  it.each(['docs/operations', 'docs/client/recipes'])(
    'is linked from the README of its folder %s',
    (folder) => {
      const inFolder = all.filter(({ path }) => posix.dirname(path) === folder);
      const readme = inFolder.find(({ path }) => path.endsWith('/README.md'));
      const targets = new Set(linksOf(readme?.text ?? '').map((target) => target.split('#')[0]));
      const names = inFolder.map(({ path }) => posix.basename(path));
      expect(names.filter((name) => name !== 'README.md' && !targets.has(name))).toEqual([]);
    },
  );

  it('gives each symptom its meaning, a command and what to do', () => {
    const page = all.find(({ path }) => path === 'docs/operations/troubleshooting.md');
    const rows = (page?.text ?? '').split('\n').filter((line) => line.startsWith('| '));
    const symptoms = rows.filter((row) => !row.startsWith('| symptom |'));
    const incomplete = symptoms.filter((row) => {
      const [, symptom = '', meaning = '', command = '', remedy = ''] = row.split(/ ?\| ?/);
      return !(symptom && meaning && remedy && /`[^`]+`/.test(command));
    });
    expect(symptoms.length).toBeGreaterThan(30);
    expect(incomplete).toEqual([]);
  });

  it('names environment variables that something reads', () => {
    const names = ['bootstrap', 'fresh-tests', 'test-reporter', 'test-summary', 'bundle'];
    const scripts = names.map((name) => readFileSync(join(root, `scripts/${name}.mjs`), 'utf8'));
    const read = [...sources.map(({ text }) => text), ...scripts].join('\n');
    const unknown = all.flatMap(({ path, text }) =>
      [...text.matchAll(/\bROOKERY_[A-Z_]+\b/g)]
        .map(([name]) => name)
        .filter((name) => !read.includes(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('a source file', () => {
  it('mentions documents that exist', () => {
    const unknown = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\bdocs\/[\w./-]+\.md\b/g)]
        .map(([mention]) => mention)
        .filter((mention) => !existsSync(join(root, mention)))
        .map((mention) => `${path}: ${mention}`),
    );
    expect(unknown).toEqual([]);
  });

  it('finds the version of the packages in README.md', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`version ${version}`);
  });
});

function leadsSomewhere(page: string, target: string): boolean {
  const [file = '', anchor = ''] = target.split('#');
  const path = file === '' ? page : posix.join(posix.dirname(page), file);
  if (!existsSync(join(root, path))) return false;
  if (anchor === '') return true;
  return anchorsOf(readFileSync(join(root, path), 'utf8')).includes(anchor);
}

function isThere(page: string, span: string): boolean {
  if (MADE_LATER.has(span)) return true;
  if (!span.includes('/') && sourceNames.has(span)) return true;
  const bases = [...BASES, `${dirname(page)}/`];
  return bases.some((base) => existsSync(join(root, base, span)));
}
