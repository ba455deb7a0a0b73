/**
 * `rookery inspect diff A B` shows which znodes only one of two states has, and in what the others
 * differ.
 *
 * Data is compared by its SHA-256 and never printed. Exit code 0: they are equal; 1: they differ;
 * an error is thrown if a state cannot be read or is damaged. Memory holds a summary of each znode
 * of A.
 */
import { createHash } from 'node:crypto';
import type { SnapshotNode } from '@rookery/server';
import { isWithin } from '../znodes/paths.js';
import { print } from './print.js';
import { readState, shownPath } from './state-source.js';

interface DiffCommand {
  readonly one: string;
  readonly other: string;
  readonly path: string;
  /**
   * Whether zxids, times, versions and owners are compared too, which differ between two ensembles.
   */
  readonly stats: boolean;
  readonly json: boolean;
}

interface Difference {
  readonly path: string;
  readonly kind: 'only in A' | 'only in B' | 'differs';
  /** The names of the fields that differ. */
  readonly fields: readonly string[];
}

const STATS = [
  ...(['czxid', 'mzxid', 'pzxid', 'ctime', 'mtime'] as const),
  ...(['version', 'cversion', 'aversion', 'ephemeralOwner'] as const),
];

type Summary = ReadonlyMap<string, string>;

export async function runDiff(command: DiffCommand): Promise<number> {
  const differences = await differencesOf(command);
  if (command.json) await print(`${JSON.stringify(differences, null, 2)}\n`);
  else for (const difference of differences) await print(lineOf(difference));
  return differences.length === 0 ? 0 : 1;
}

/** In the order of their paths, without what each ensemble keeps for itself. */
async function differencesOf(command: Omit<DiffCommand, 'json'>): Promise<readonly Difference[]> {
  const inOne = new Map<string, Summary>();
  const isCompared = (path: string) => isWithin(path, command.path) && !isOwn(path);
  await readState(command.one, (node) => {
    const path = shownPath(node);
    if (isCompared(path)) inOne.set(path, summaryOf(node, command.stats));
  });
  const differences: Difference[] = [];
  await readState(command.other, (node) => {
    const path = shownPath(node);
    if (!isCompared(path)) return;
    const before = inOne.get(path);
    inOne.delete(path);
    if (before === undefined) {
      differences.push({ path, kind: 'only in B', fields: [] });
      return;
    }
    const after = summaryOf(node, command.stats);
    const fields = [...after.keys()].filter((field) => before.get(field) !== after.get(field));
    if (fields.length > 0) differences.push({ path, kind: 'differs', fields });
  });
  for (const path of inOne.keys()) differences.push({ path, kind: 'only in A', fields: [] });
  return differences.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The list of servers, and how much of a quota is used, which a restore measures again. */
function isOwn(path: string): boolean {
  return path === '/zookeeper/config' || /^\/zookeeper\/quota\/.*\/zookeeper_stats$/.test(path);
}

function summaryOf(node: SnapshotNode, withStats: boolean): Summary {
  const data = node.data ?? Buffer.alloc(0);
  const acl = (node.acl ?? []).map(({ perms, scheme, id }) => `${perms} ${scheme}:${id}`);
  return new Map([
    ['data', createHash('sha256').update(data).digest('base64')],
    ['acl', acl.toSorted().join('\n')],
    ...(withStats ? STATS.map((field) => [field, String(node[field])] as const) : []),
  ]);
}

function lineOf({ path, kind, fields }: Difference): string {
  const mark = { 'only in A': '-', 'only in B': '+', differs: '~' }[kind];
  return `${mark} ${JSON.stringify(path)}${fields.length === 0 ? '' : `  ${fields.join(', ')}`}\n`;
}
