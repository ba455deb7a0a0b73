/**
 * Plans for parts of the tree: delete, copy, move, import.
 *
 * A znode is deleted only in the version that the plan has seen, so what somebody writes in between
 * is not lost. A copy is read when its turn comes. A move copies everything first, and deletes only
 * if all of that went well, each znode in the version that was copied.
 */
import type { Api } from '../../api/api.js';
import { ApiProblem, statusOf } from '../../api/problem.js';
import type { FoundNode, NodeFacts } from '../../api/types.js';
import { aclValues, isCutAcl } from '../acl/acl-rules.js';
import { readData } from '../node/use-node.js';
import { isWithin, parentOf, rebased } from '../paths.js';
import { counted, sizeInWords } from '../words.js';
import { byDepth, type Plan, type Step, type Warning } from './plan.js';
import { type FileNode, placeOf } from './subtree-file.js';
import { NODES_MAX, type Walk } from './walk.js';

/** A sentence, if this cannot be planned. */
export type Refusal = string;

export function deletePlan(api: Api, { nodes, isCut }: Walk): Plan | Refusal {
  if (isCut) return tooMany();
  const unreadable = nodes.filter(({ stat }) => stat === null).map(({ path }) => path);
  const ephemerals = nodes.filter(({ mode }) => mode === 'ephemeral');
  const owners = new Set(ephemerals.map(({ stat }) => stat?.ephemeralOwner));
  const warnings: Warning[] = [];
  if (ephemerals.length > 0) {
    const whose = `of ${counted(owners.size, 'living session')}`;
    const sentence = `${counted(ephemerals.length, 'ephemeral znode')} ${whose}: their owners will lose them.`;
    warnings.push({ sentence, paths: [] });
  }
  if (unreadable.length > 0) {
    const what = counted(unreadable.length, 'znode');
    const sentence = `You may not read ${what}; what is below is not known.`;
    warnings.push({ sentence, paths: unreadable });
  }
  const steps = nodes.map(({ path, stat }) => deleteStep(api, path, () => stat?.version ?? '*'));
  return {
    groups: byDepth(steps).toReversed(),
    facts: factsOf(nodes),
    warnings,
    isChain: false,
  };
}

export interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly keepsAcls: boolean;
  /** Deletes the source when all is copied. */
  readonly moves: boolean;
}

export function copyPlan(api: Api, { nodes, isCut }: Walk, options: CopyOptions): Plan | Refusal {
  const { from, to, moves } = options;
  if (isCut) return tooMany();
  if (isWithin(from, to)) return 'The new place is inside of what is copied.';
  const unreadable = nodes.filter(({ stat }) => stat === null).length;
  if (unreadable > 0) return `${counted(unreadable, 'znode')} of it you may not read.`;
  const ephemerals = nodes.filter(({ mode }) => mode === 'ephemeral').length;
  if (ephemerals > 0 && moves) {
    return `${counted(ephemerals, 'ephemeral znode')} of it belong to sessions and cannot be moved.`;
  }
  const kept = nodes.filter(({ mode }) => mode !== 'ephemeral');
  const versions = new Map<string, number>();
  const copies = kept.map((node): Step => copyStep(api, node, options, versions));
  const deletes = kept.map(({ path }) => deleteStep(api, path, () => versions.get(path)));
  return {
    groups: [...byDepth(copies), ...(moves ? byDepth(deletes).toReversed() : [])],
    facts: [...factsOf(kept), ['From', from], ['To', to]],
    warnings: ephemerals === 0 ? [] : [leftOut(ephemerals)],
    isChain: true,
  };
}

function leftOut(ephemerals: number): Warning {
  const sentence = `${counted(ephemerals, 'ephemeral znode')} of it are left out.`;
  return { sentence, paths: [] };
}

export interface ImportOptions {
  readonly to: string;
  readonly keepsAcls: boolean;
  /** What is there already, by path. */
  readonly there: ReadonlyMap<string, { readonly version: number; readonly data: Uint8Array }>;
  /** Replaces data that is different. */
  readonly replaces: boolean;
}

export function importPlan(api: Api, nodes: readonly FileNode[], options: ImportOptions): Plan {
  const { to, there, replaces, keepsAcls } = options;
  const counts = { created: 0, same: 0, changed: 0 };
  const steps: Step[] = [];
  for (const node of nodes) {
    const path = placeOf(node, to);
    const known = there.get(path);
    if (known === undefined) {
      counts.created += 1;
      steps.push({
        path,
        verb: 'create',
        run: (signal) => make(api, path, node, keepsAcls, signal),
      });
    } else if (isEqual(known.data, node.data)) counts.same += 1;
    else {
      counts.changed += 1;
      if (!replaces) continue;
      const { version: match } = known;
      steps.push({
        path,
        verb: 'set',
        run: async (signal) => {
          const asked = { query: { path }, body: node.data, match, signal };
          await api.write('PUT', '/node/data', asked);
        },
      });
    }
  }
  return {
    groups: byDepth(steps),
    facts: [
      ['To', to],
      ['Created', counted(counts.created, 'znode')],
      [replaces ? 'Replaced' : 'Different, left as they are', counted(counts.changed, 'znode')],
      ['The same already', counted(counts.same, 'znode')],
    ],
    warnings: [],
    isChain: true,
  };
}

type Version = number | '*' | undefined;

/** Which version is deleted is known when the turn of the step comes. */
function deleteStep(api: Api, path: string, version: () => Version): Step {
  return { path, verb: 'delete', run: (signal) => remove(api, path, version(), signal) };
}

async function remove(
  api: Api,
  path: string,
  version: Version,
  signal: AbortSignal,
): Promise<void> {
  // A move deletes nothing that it has not copied.
  if (version === undefined) throw new ApiProblem({ status: 409, detail: 'It was not copied.' });
  try {
    await api.write('DELETE', '/node', { query: { path }, match: version, signal });
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}

function copyStep(
  api: Api,
  { path }: FoundNode,
  { from, to, keepsAcls }: CopyOptions,
  versions: Map<string, number>,
): Step {
  const target = rebased(path, from, to);
  return {
    path: target,
    verb: 'create',
    run: async (signal) => {
      const facts = await api.get<NodeFacts>('/node', { path }, signal);
      const { bytes: data, version } = await readData(api, path, signal);
      const { mode, ttlMs, acl } = facts;
      const kept = mode === 'container' || mode === 'ttl' ? mode : 'persistent';
      await make(api, target, { path, mode: kept, ttlMs, data, acl }, keepsAcls, signal);
      versions.set(path, version);
    },
  };
}

async function make(
  api: Api,
  path: string,
  { mode, ttlMs, acl, data }: FileNode,
  keepsAcls: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (keepsAcls && (acl === null || isCutAcl(acl))) {
    const detail = `The ACL of ${path} cannot be kept, because you do not see it whole.`;
    throw new ApiProblem({ status: 403, detail });
  }
  const given = keepsAcls && acl !== null ? aclValues(acl) : null;
  const query = { path, mode, ttlMs: mode === 'ttl' ? ttlMs : null, acl: given };
  await api.write('POST', '/node', { query, body: data, signal });
}

/** Whether there is a place for a new znode, as a sentence if there is none. */
export async function wrongTarget(
  api: Api,
  to: string,
  signal: AbortSignal,
): Promise<string | null> {
  const exists = async (path: string): Promise<boolean> => {
    try {
      await api.get('/node', { path }, signal);
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      if (statusOf(error) === 403) return true;
      throw error;
    }
  };
  if (await exists(to)) return `There is a znode ${to} already.`;
  return (await exists(parentOf(to))) ? null : `There is no znode ${parentOf(to)}.`;
}

function factsOf(nodes: readonly FoundNode[]): readonly (readonly [string, string])[] {
  const bytes = nodes.reduce((sum, { stat }) => sum + (stat?.dataLength ?? 0), 0);
  return [
    ['Znodes', counted(nodes.length, 'znode')],
    ['Data', sizeInWords(bytes)],
  ];
}

export function tooMany(): Refusal {
  return `There are more than ${NODES_MAX} znodes, which is too much for a browser.`;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
