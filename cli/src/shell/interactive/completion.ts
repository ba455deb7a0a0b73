/**
 * Completes the end of a line: commands, their options, and paths of znodes.
 *
 * Names come from the server, one page from the typed prefix on, so a directory of a million znodes
 * is answered as fast as a small one. If there are more than are shown, nothing is inserted, and
 * the last entry says so.
 */
import type { Client } from '@rookery/client';
import { joinPath } from '@rookery/protocol';
import { type CommandSpec, resolvePath } from '../../command/command.js';
import { quoted, splitLine } from '../words.js';

/** As node:readline takes it: the candidates, and the part of the line that they replace. */
type Completed = [candidates: string[], replaced: string];

interface Completion {
  readonly specs: readonly CommandSpec[];
  /** Commands of the shell itself, such as cd; all of them take a path. */
  readonly builtIns: readonly string[];
  readonly directory: string;
  /** Null while there is no session. */
  readonly client: Client | null;
}

const NAMES_MAX = 100;
const TIMEOUT_MS = 2_000;
const MORE = '(and more)';

/**
 * Lets the client find out whether the server has pages, before somebody waits for the first names
 * of a large directory: it takes a session of its own. A member that serves reads without a quorum
 * gives none, and below a chroot the directory that is asked for does not exist: then the first
 * completion finds out. Rejects as `listChildren` does.
 */
export async function prepareCompletion(client: Client): Promise<void> {
  if (client.readOnly) return;
  // It has two children, which is more than a page of one name, and little without pages.
  const names = client.listChildren('/zookeeper', { pageSize: 1, timeoutMs: TIMEOUT_MS });
  await names[Symbol.asyncIterator]().next();
}

export async function completed(line: string, completion: Completion): Promise<Completed> {
  const { words, openQuote, lastStart, isInWord } = splitLine(line);
  const raw = line.slice(lastStart);
  const typed = isInWord ? (words.at(-1) ?? '') : '';
  const before = isInWord ? words.slice(0, -1) : words;
  if (openQuote !== null) return [[], raw];
  const { specs, builtIns } = completion;
  const group = before.length === 1 ? (before[0] ?? '') : null;
  const names = before.length === 0 ? [...builtIns, ...specs.map(firstWord)] : [];
  if (group !== null) {
    names.push(...specs.filter(({ name }) => name.startsWith(`${group} `)).map(lastWord));
  }
  if (names.length > 0) return [startingWith([...new Set(names)].sort(), typed), raw];
  const spec = specFor(before, specs);
  if (typed.startsWith('-')) return [startingWith(optionsOf(spec), typed), raw];
  const at = before.filter((word) => !word.startsWith('-')).length;
  const argument = spec?.args[at - spec.name.split(' ').length];
  const isPath = spec === null ? builtIns.includes(before[0] ?? '') : argument?.kind === 'path';
  return isPath ? [await paths(typed, completion), raw] : [[], raw];
}

function firstWord({ name }: CommandSpec): string {
  return `${name.split(' ')[0]} `;
}

function lastWord({ name }: CommandSpec): string {
  return `${name.split(' ')[1]} `;
}

function startingWith(candidates: readonly string[], typed: string): string[] {
  return candidates.filter((candidate) => candidate.startsWith(typed));
}

function specFor(words: readonly string[], specs: readonly CommandSpec[]): CommandSpec | null {
  const two = words.slice(0, 2).join(' ');
  return specs.find(({ name }) => name === two || name === words[0]) ?? null;
}

function optionsOf(spec: CommandSpec | null): readonly string[] {
  if (spec === null) return [];
  const own = (spec.options ?? []).map(({ flags }) => /--[\w-]+/.exec(flags)?.[0] ?? '');
  const writes = spec.writes === true ? ['--dry-run'] : [];
  const format = spec.isPlain === true ? [] : ['--output'];
  return [...own, ...writes, ...format, '--help'].map((option) => `${option} `);
}

async function paths(typed: string, { client, directory }: Completion): Promise<string[]> {
  if (client === null || client.state !== 'connected') return [];
  const slash = typed.lastIndexOf('/');
  const above = typed.slice(0, slash + 1);
  const prefix = typed.slice(slash + 1);
  const parent = resolvePath(directory, above === '' ? '.' : above);
  const found: string[] = [];
  const from = { startAfter: justBefore(prefix), pageSize: NAMES_MAX + 1 };
  for await (const name of client.listChildren(parent, { ...from, timeoutMs: TIMEOUT_MS })) {
    // They come in order.
    if (!name.startsWith(prefix) || found.length > NAMES_MAX) break;
    found.push(name);
  }
  const [only] = found;
  if (found.length === 1 && only !== undefined) {
    const stat = await client.exists(joinPath(parent, only));
    const end = stat !== null && stat.numChildren > 0 ? '/' : ' ';
    return [`${quoted(above + only)}${end}`];
  }
  const shown = found.slice(0, NAMES_MAX).map((name) => quoted(above + name));
  // It has nothing in common with the others, so that readline inserts nothing.
  return found.length > NAMES_MAX ? [...shown, MORE] : shown;
}

/** A text that every name with the prefix comes behind, and hardly any other name. */
function justBefore(prefix: string): string {
  if (prefix === '') return '';
  const code = prefix.charCodeAt(prefix.length - 1) - 1;
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  // No name has U+FFFF in it.
  const last = isHalf || code < 0x20 ? '' : `${String.fromCharCode(code)}\uffff`;
  return `${prefix.slice(0, -1)}${last}`;
}
