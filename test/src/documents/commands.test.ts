/**
 * The commands that documents show can be typed. Every line of a shell block and every command in
 * backticks is parsed; its script, files and options must exist where they are declared.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../tidy/source.js';
import { blocksOf, codeSpansOf, pages } from './pages.js';

const COMMAND = /^(?:[A-Z_]+=\S+ )*(npm|npx|node|rookery) /;
const HOOKS = 'git config core.hooksPath ';
/** Commands of npm itself. */
const NPM_OWN = new Set(['ci', 'install', 'pack', 'publish', 'sbom']);
const TOOLS = new Set(['tsc', 'biome', 'vitest', 'rookery']);
/** Options of other tools that the documents use. */
const TOOL_OPTIONS = new Set(['--write', '--project', '-b']);

const scripts: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
).scripts;

const api: { readonly paths: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(join(root, 'docs/operations/openapi.json'), 'utf8'),
);

const commands = pages().flatMap(({ path, text }) => {
  const lines = blocksOf(text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.split('\n'));
  return [...lines, ...codeSpansOf(text).filter((span) => COMMAND.test(span))]
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => ({ path, line }));
});

it('every command of the documents has its script, its files and its options', () => {
  expect(commands.length).toBeGreaterThan(30);
  const problems = commands.flatMap(({ path, line }) =>
    problemsOf(line).map((problem) => `${path}: ${line}: ${problem}`),
  );
  expect(problems).toEqual([]);
});

it('a command that does not exist is found', () => {
  expect(problemsOf('npm run nothing')).toEqual(['no script nothing']);
  expect(problemsOf('npm run sim -- --secnods 3')).toEqual(['no option --secnods']);
  expect(problemsOf('node cli/dist/nothing.js server')).toEqual(['no file cli/dist/nothing.js']);
  expect(problemsOf('npx vitest run test/src/nothing')).toEqual(['no file test/src/nothing']);
  expect(problemsOf(`${HOOKS}scripts`)).toEqual(['no file scripts/commit-msg']);
  expect(problemsOf('wget localhost')).toEqual(['starts with none of npm, npx, node, rookery']);
  expect(problemsOf('curl http://localhost:7000/nothing')).toEqual(['no HTTP path /nothing']);
  expect(problemsOf('curl http://localhost:7000/readyz?verbose')).toEqual([]);
});

function problemsOf(line: string): string[] {
  if (line.startsWith('curl ')) return pathProblems(line);
  if (line.startsWith(HOOKS)) {
    const hook = join(line.slice(HOOKS.length), 'commit-msg');
    return existsSync(join(root, hook)) ? [] : [`no file ${hook}`];
  }
  if (!COMMAND.test(`${line} `)) return ['starts with none of npm, npx, node, rookery'];
  const words = line.split(' ').filter((word) => !/^[A-Z_]+=/.test(word));
  const [tool = '', first = '', second = ''] = words;
  if (tool === 'npm' && NPM_OWN.has(first)) return [];
  if (tool === 'npm') {
    const name = first === 'run' ? second : first;
    const script = scripts[name];
    if (script === undefined) return [`no script ${name}`];
    const entry = /[\w./-]+\.m?js(?!.*\.m?js)/.exec(script)?.[0] ?? '';
    return optionProblems(words, entry === '' ? [] : sourcesOf(entry, words));
  }
  if (tool === 'npx' && !TOOLS.has(first)) return [`no tool ${first}`];
  const files = words.filter((word) => /^(?:[\w.-]+\/)+[\w.-]*$/.test(word) && !isMade(word));
  const missing = files.filter((file) => !existsSync(join(root, sourceOf(file))));
  if (missing.length > 0) return missing.map((file) => `no file ${file}`);
  if (tool === 'npx' && first !== 'rookery') return [];
  return optionProblems(words, sourcesOf('cli/dist/main.js', []));
}

/** The HTTP paths of members are named in the sources of their ports. */
function pathProblems(line: string): string[] {
  const [, path = ''] = /https?:\/\/[^/\s]+(\/[\w/]+)/.exec(line) ?? [];
  const known = sourcesOf('server/src/http/index.ts', []).some((text) =>
    text.includes(`'${path}'`),
  );
  // A test of a running member compares this description with what it has.
  if (path.startsWith('/api/v1/') && path in api.paths) return [];
  const isCommand = /^\/commands\/\w+$/.test(path);
  return known || isCommand ? [] : [`no HTTP path ${path}`];
}

/** Paths that the command creates or that stand for the reader's own. */
function isMade(word: string): boolean {
  return /^(?:data|\.\/data|\/tmp)(?:\/|$)/.test(word);
}

function sourceOf(file: string): string {
  return file
    .replace('/dist/', '/src/')
    .replace(/\.js$/, (end) => (file.includes('/dist/') ? '.ts' : end));
}

/** The source of the program that a script starts, and of the files beside it. */
function sourcesOf(entry: string, words: readonly string[]): string[] {
  const folders = [dirname(sourceOf(entry))];
  // The bootstrap script passes its arguments on.
  if (words.includes('start')) folders.push('cli/src');
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mjs)$/.test(name))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  );
}

function optionProblems(words: readonly string[], texts: readonly string[]): string[] {
  const options = words.filter((word) => word.startsWith('-') && word !== '--');
  return options
    .filter((option) => option !== '--help' && !TOOL_OPTIONS.has(option))
    .filter((option) => !texts.some((text) => new RegExp(`['" ]${option}\\b`).test(text)))
    .map((option) => `no option ${option}`);
}
