/**
 * The rules of this repository that a linter does not know: which folder may import which, what the
 * pure folders must not name, how every file begins, and which packages may be used.
 *
 * Each rule takes a file and returns its violations as sentences. The linter checks size of files
 * and functions, import cycles, default exports and enums (biome.json). The tidy test calls these
 * rules.
 */
import type { SourceFile } from './source.js';

export const COLUMNS_MAX = 100;

/**
 * Which folder may import from which: from folders of a lower rank, and from itself. `memory` is
 * `server/src/state/memory`, and `server` the files at the top of `server/src`.
 */
const RANKS = {
  protocol: 0,
  config: 1,
  measures: 1,
  memory: 1,
  'zookeeper-files': 1,
  client: 1,
  zab: 2,
  state: 2,
  security: 2,
  sessions: 3,
  storage: 3,
  pipeline: 4,
  offline: 4,
  net: 5,
  audit: 6,
  driver: 6,
  http: 7,
  member: 7,
  server: 8,
  cli: 9,
} as const;
type Area = keyof typeof RANKS;

const PURE: readonly Area[] = ['zab', 'memory', 'state', 'sessions', 'pipeline'];

const IMPURE_WORDS = [
  ...['async', 'await', 'Promise', 'queueMicrotask', 'EventEmitter', 'fetch', 'console'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'Date', 'performance', 'process', 'crypto'],
];
const IMPURE_CODE = new RegExp(
  `(?<![.\\w#'"])(?:${IMPURE_WORDS.join('|')})\\b(?!\\s*[:?]\\s*)`,
  'g',
);

/** The area of a file; null for tests, their helpers and files without a place in the order. */
export function areaOf(path: string): Area | null {
  if (isTest(path)) return null;
  const [name = '', , folder = '', ...rest] = path.split('/');
  if (name === 'protocol' || name === 'client' || name === 'cli') return name;
  if (name !== 'server') return null;
  if (rest.length === 0) return 'server';
  if (folder === 'state' && rest.length > 1 && rest[0] === 'memory') return 'memory';
  return isArea(folder) ? folder : null;
}

/** Tests, and code that only tests use: our own, or those of a user who embeds an ensemble. */
export function isTest(path: string): boolean {
  return /\.test\.ts$|\/(testing|simulated)\/|^test\/|^bench\//.test(path);
}

export function directionOffences(file: SourceFile): string[] {
  const area = areaOf(file.path);
  if (area === null) return [];
  const offences: string[] = [];
  for (const name of file.imports) {
    const target = name.startsWith('@rookery/') ? packageArea(name) : areaOf(name);
    const known = name.includes('/src/') || name.startsWith('@rookery/');
    if (!known) continue;
    if (target === null) offences.push(`imports ${name}, which only tests may use`);
    else if (!mayImport(area, target)) offences.push(`is in ${area} and imports ${name}`);
  }
  return offences;
}

function mayImport(from: Area, to: Area): boolean {
  if (from === to) return true;
  if (to === 'config' && PURE.includes(from)) return false;
  // Only the state, and what stands on it, knows the memory that znodes live in.
  if (to === 'memory' && from !== 'state' && RANKS[from] <= RANKS.state) return false;
  if (to === 'client' && RANKS[from] < RANKS.cli) return false;
  if (from === 'client') return to === 'protocol';
  return RANKS[to] < RANKS[from];
}

const WITHOUT_CIRCLES = /^(?:protocol|server|client|cli)\/src\//;

/** Folders directly below a package's `src` that import themselves by way of others. */
export function circleOffences(files: readonly SourceFile[]): string[] {
  const imported = new Map<string, Set<string>>();
  for (const file of files) {
    if (!WITHOUT_CIRCLES.test(file.path) || isTest(file.path)) continue;
    const folder = folderOf(file.path);
    const targets = imported.get(folder) ?? new Set();
    imported.set(folder, targets);
    for (const name of file.imports) {
      const target = folderOf(name);
      if (name.includes('/src/') && !isTest(name) && target !== folder) targets.add(target);
    }
  }
  return [...imported.keys()]
    .filter((folder) => reachedFrom(folder, imported).has(folder))
    .map((folder) => `${folder} is in a circle of imports`);
}

/** `state/memory` counts as a folder of its own. */
function folderOf(path: string): string {
  const [name = '', , folder = '', below = '', ...rest] = path.split('/');
  const isMemory = folder === 'state' && below === 'memory' && rest.length > 0;
  return isMemory ? `${name}/state/memory` : `${name}/${folder}`;
}

function reachedFrom(
  folder: string,
  imported: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const reached = new Set<string>();
  const pending = [folder];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    for (const target of imported.get(one) ?? []) {
      if (!reached.has(target)) pending.push(target);
      reached.add(target);
    }
  }
  return reached;
}

/** Parts of packages that production code may use by themselves: few processes need them. */
const SUBPATHS: Readonly<Record<string, Area>> = {
  '@rookery/protocol/peer': 'protocol',
  '@rookery/server/http': 'http',
};

function packageArea(name: string): Area | null {
  const area = SUBPATHS[name] ?? name.slice('@rookery/'.length);
  return isArea(area) ? area : null;
}

function isArea(name: string): name is Area {
  return Object.hasOwn(RANKS, name);
}

/** Violations in a pure folder, which has no time, randomness, I/O or promises. */
export function purityOffences(file: SourceFile): string[] {
  const area = areaOf(file.path);
  if (area === null || !PURE.includes(area)) return [];
  const offences = file.imports
    .filter((name) => !name.startsWith('@rookery/') && !name.includes('/src/'))
    .map((name) => `imports ${name}`);
  for (const match of file.code.matchAll(IMPURE_CODE)) {
    offences.push(`line ${lineOf(file.code, match.index)} names ${match[0]}`);
  }
  for (const match of file.code.matchAll(/\bMath\.random\b/g)) {
    offences.push(`line ${lineOf(file.code, match.index)} names Math.random`);
  }
  return offences;
}

/**
 * A line is excused if only the text of a string makes it long, because no formatter can break it.
 */
export function columnOffences(file: SourceFile): string[] {
  const codeLines = file.code.split('\n');
  return file.text.split('\n').flatMap((line, index) => {
    const code = codeLines[index] ?? '';
    const excused = /['"`]/.test(code) && code.replace(/ {2,}/g, ' ').length <= COLUMNS_MAX;
    const isLong = line.length > COLUMNS_MAX && !excused;
    return isLong ? [`line ${index + 1} has ${line.length} columns`] : [];
  });
}

/** Tests may omit it, because their titles explain them. */
export function headerOffences(file: SourceFile): string[] {
  if (file.path.endsWith('.test.ts')) return [];
  return /^(#!.*\n)?\/\*\*/.test(file.text) ? [] : ['does not begin with a header comment'];
}

const SOURCE_NAME = /(?<![\w./*-])(?:[\w-]+\/)*([a-z][\w-]*(?:\.[a-z]+)*\.ts)\b/g;

/**
 * A comment that names a source file which does not exist (any more). `names` are the names of all
 * files, without folders.
 */
export function referenceOffences(file: SourceFile, names: ReadonlySet<string>): string[] {
  return file.text.split('\n').flatMap((line, index) => {
    if (!/^\s*(?:\/?\*|\/\/)/.test(line)) return [];
    return [...line.matchAll(SOURCE_NAME)]
      .filter(([, name = '']) => !names.has(name))
      .map(([path]) => `line ${index + 1} names ${path}, which does not exist`);
  });
}

/**
 * A spread of an object literal, such as `...{ a, b }`: it hides what an object has in order to
 * save lines. A spread of anything else is no offence.
 */
export function spreadOffences(file: SourceFile): string[] {
  return [...file.code.matchAll(/\.\.\.\s*\{/g)].map(
    (match) => `line ${lineOf(file.code, match.index)} spreads an object literal`,
  );
}

export function toDoOffences(file: SourceFile): string[] {
  const marks = ['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'];
  const bare = new RegExp(`\\b(?:${marks.join('|')})\\b(?!\\((?:when|until) [^)]+\\))`, 'g');
  const comments = [...file.text].map((char, at) => (file.code[at] === char ? ' ' : char)).join('');
  return [...comments.matchAll(bare)].map(
    (match) => `line ${lineOf(file.text, match.index)}: ${match[0]} without "(when ...)"`,
  );
}

/** `allowed` are the packages for which ARCHITECTURE.md gives a reason. */
export function packageOffences(file: SourceFile, allowed: ReadonlySet<string>): string[] {
  return file.imports
    .filter((name) => !/^node:|^@rookery\/|\/(src|dist)\//.test(name))
    .filter((name) => !allowed.has(packageOf(name)))
    .map((name) => `imports ${name}, for which ARCHITECTURE.md gives no reason`);
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Returns the names in the first column of the table under "Dependencies". */
export function packagesWithReason(architecture: string): ReadonlySet<string> {
  const section = architecture.split(/^## /m).find((part) => part.startsWith('Dependencies')) ?? '';
  const names = new Set<string>();
  for (const line of section.split('\n')) {
    const [, packages = '', , reason = ''] = line.split('|');
    if (reason.trim() === '') continue;
    for (const name of packages.matchAll(/`([^`]+)`/g)) names.add(name[1] ?? '');
  }
  return names;
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** What makes or opens a file in Node's modules of files. */
const MAKES_FILES =
  /^(?:open|openSync|createWriteStream|(?:writeFile|appendFile|copyFile|cp)(?:Sync)?)(?: as \w+)?$/;
/** Files that open files by themselves, and why no planted link can harm there. */
const OPENS_FILES: ReadonlyMap<string, string> = new Map([
  ['server/src/security/own-file.ts', 'it is how all others make files'],
  ['server/src/security/secret-file.ts', 'reads'],
  ['server/src/config/bounded-file.ts', 'reads'],
  ['cli/src/machine/bounded-input.ts', 'reads'],
  ['server/src/zookeeper-files/log-file.ts', 'reads'],
  ['server/src/offline/snapshot-output.ts', 'opens for reading what it has made, to sync it'],
  ['server/src/offline/lower-priority.ts', 'writes a file of /proc'],
  ['server/src/storage/log-disk.ts', "makes files exclusively, in a member's own directory"],
  ['server/src/storage/data-directory.ts', "syncs a member's own directories"],
  ['server/src/storage/owned-directory.ts', 'opens files that are there, to cut them'],
  ['server/src/storage/level-files.ts', 'reads the files of a database'],
  ['server/src/storage/level-files.ts', 'reads table files of a database'],
  ['cli/src/config/config-command.ts', 'makes files exclusively, with mode 0600'],
  ['cli/src/shell/commands/editing.ts', 'writes into a directory that it has just made'],
]);

/** Product code makes files through own-file.ts, which follows no planted link. */
export function fileOffences({ path, text }: SourceFile): string[] {
  const isProduct = /^(?:server|cli|client|protocol)\/src\//.test(path);
  const isTest = /\.test\.ts$|\/(?:simulated|testing)\//.test(path);
  if (!isProduct || isTest || OPENS_FILES.has(path)) return [];
  const imported = text.matchAll(/^import \{([^}]*)\} from 'node:fs(?:\/promises)?';/gm);
  return [...imported]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().replace(/^type /, 'type:'))
    .filter((name) => MAKES_FILES.test(name))
    .map((name) => `imports ${name} of node:fs: make files through security/own-file.ts`);
}

/** Files that write and read addresses. The console imports no other package. */
const ADDRESS_FILES: readonly string[] = [
  'protocol/src/basics/addresses.ts',
  'console/src/live/address-text.ts',
];
const ADDRESSES_BY_HAND: readonly (readonly [pattern: RegExp, offence: string])[] = [
  [/\$\{[^{}]*\}:\$\{[^{}]*port[^{}]*\}/gi, 'writes'],
  [/\$\{[^{}]*(?:host|address|remote)\}:\$\{/gi, 'writes'],
  [/\[\$\{[^{}]*(?:host|address)[^{}]*\}\]/gi, 'writes'],
  [/\w*(?:host|address)\w*\.(?:split|indexOf|lastIndexOf)\(':'/gi, 'reads'],
];

/**
 * An address that is put together, or cut at a colon, elsewhere than in the functions that know of
 * the brackets of IPv6.
 */
export function addressOffences({ path, text }: SourceFile): string[] {
  const isProduct = /^(?:server|cli|client|protocol|console)\/src\//.test(path);
  if (!isProduct || path.endsWith('.test.ts') || ADDRESS_FILES.includes(path)) return [];
  return ADDRESSES_BY_HAND.flatMap(([pattern, verb]) =>
    [...text.matchAll(pattern)].map(
      ({ index }) => `line ${lineOf(text, index)} ${verb} an address by hand`,
    ),
  );
}
