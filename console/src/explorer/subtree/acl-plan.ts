/**
 * A plan that gives everything below a znode one ACL.
 *
 * Each ACL is set only in the version that the plan has seen, so what somebody changes in between
 * is not lost. What has the ACL already is left alone, so a plan that was stopped can be made again
 * and goes on where it was.
 */
import { type Api, versionOf } from '../../api/api.js';
import { statusOf } from '../../api/problem.js';
import type { AclEntry, FoundNode } from '../../api/types.js';
import { aclValues, isCutAcl } from '../acl/acl-rules.js';
import { counted } from '../words.js';
import { forEach } from './at-once.js';
import { FAILURES_MAX, type Refusal, tooMany } from './make-plan.js';
import { byDepth, type Plan, type Step } from './plan.js';
import { walk } from './walk.js';

/** The listed entries of an ACL in a plan. */
const ENTRIES_SHOWN = 3;

export async function aclPlan(
  api: Api,
  { path: root, acl }: { readonly path: string; readonly acl: readonly AclEntry[] },
  asked: { readonly signal: AbortSignal; onProgress(count: number): void },
): Promise<Plan | Refusal> {
  if (isCutAcl(acl)) return 'You do not see this ACL whole, so it cannot be given to others.';
  const { signal } = asked;
  const { nodes, isCut } = await walk(api, [root], asked);
  if (isCut) return tooMany();
  const below = nodes.slice(1);
  const found: Found[] = [];
  await forEach(below, async (node, index) => {
    found[index] = await aclNow(api, node, signal);
  });
  const known = found.filter((one) => one.kind === 'known');
  const others = known.filter((one) => !isEqual(one.acl, acl));
  const unseen = found.filter((one) => one.kind === 'unseen').length;
  return {
    groups: byDepth(others.map((one) => aclStep(api, one, acl))),
    facts: [
      ['ACL', shownAcl(acl)],
      ['Changed', counted(others.length, 'znode')],
      ['The same already', counted(known.length - others.length, 'znode')],
    ],
    warnings:
      unseen === 0
        ? []
        : [`${counted(unseen, 'znode')} whose ACL you may not see; what is below is not known.`],
    failuresMax: FAILURES_MAX,
  };
}

interface Known {
  readonly kind: 'known';
  readonly path: string;
  readonly acl: readonly AclEntry[];
  readonly version: number;
}

type Found = Known | { readonly kind: 'unseen' | 'gone' };

async function aclNow(api: Api, { path, stat }: FoundNode, signal: AbortSignal): Promise<Found> {
  if (stat === null) return { kind: 'unseen' };
  try {
    const response = await api.ask('GET', '/node/acl', { query: { path }, signal });
    const { acl } = (await response.json()) as { readonly acl: readonly AclEntry[] | null };
    if (acl === null) return { kind: 'unseen' };
    return { kind: 'known', path, acl, version: versionOf(response) };
  } catch (error) {
    if (statusOf(error) === 404) return { kind: 'gone' };
    if (statusOf(error) === 403) return { kind: 'unseen' };
    throw error;
  }
}

function aclStep(api: Api, { path, version }: Known, acl: readonly AclEntry[]): Step {
  return {
    path,
    verb: 'set the ACL of',
    run: async (signal) => {
      const query = { path, acl: aclValues(acl) };
      await api.write('PUT', '/node/acl', { query, match: version, signal });
    },
  };
}

/** Their order says nothing. */
function isEqual(one: readonly AclEntry[], other: readonly AclEntry[]): boolean {
  const [own, others] = [one, other].map((acl) => JSON.stringify(acl.map(textOf).sort()));
  return own === others;
}

function textOf({ scheme, id, perms }: AclEntry): string {
  return `${scheme}:${id}:${[...perms].sort().join('')}`;
}

function shownAcl(acl: readonly AclEntry[]): string {
  const listed = acl.slice(0, ENTRIES_SHOWN).map(({ scheme, id, perms }) => {
    return `${scheme}:${id}:${perms}`;
  });
  const more = acl.length - listed.length;
  return more > 0 ? `${listed.join(', ')} and ${more} more` : listed.join(', ');
}
