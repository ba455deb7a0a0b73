/**
 * A plan that gives everything below a znode one ACL.
 *
 * Each ACL is set only in the version that the plan has seen, so what somebody changes in between
 * is not lost. What has the ACL already is left alone, so a plan that was stopped can be made again
 * and goes on where it was. What this person may not change is told before, and left out.
 */
import { type Api, versionOf } from '../../api/api.js';
import { statusOf } from '../../api/problem.js';
import type { AclEntry, AclOf, FoundNode } from '../../api/types.js';
import { aclValues, isCutAcl } from '../acl/acl-rules.js';
import { counted } from '../words.js';
import { forEach } from './at-once.js';
import { type Refusal, tooMany } from './make-plan.js';
import { byDepth, type Plan, type Step, type Warning } from './plan.js';
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
  const changed = others.filter((one) => one.mayChange);
  return {
    groups: byDepth(changed.map((one) => aclStep(api, one, acl))),
    facts: [
      ['ACL', shownAcl(acl)],
      ['Changed', counted(changed.length, 'znode')],
      ['The same already', counted(known.length - others.length, 'znode')],
    ],
    warnings: warningsOf({
      closed: others.filter((one) => !one.mayChange).map(({ path }) => path),
      unseen: found.filter((one) => one.kind === 'unseen').map(({ path }) => path),
    }),
    isChain: false,
  };
}

function warningsOf(paths: {
  readonly closed: readonly string[];
  readonly unseen: readonly string[];
}): readonly Warning[] {
  const { closed, unseen } = paths;
  const warnings: Warning[] = [];
  if (closed.length > 0) {
    const what = counted(closed.length, 'znode');
    const sentence = `You may not change the ACL of ${what}, left out of this plan.`;
    warnings.push({ sentence, paths: closed });
  }
  if (unseen.length > 0) {
    const what = counted(unseen.length, 'znode');
    const sentence = `You may not see the ACL of ${what}; what is below is not known.`;
    warnings.push({ sentence, paths: unseen });
  }
  return warnings;
}

interface Known {
  readonly kind: 'known';
  readonly path: string;
  readonly acl: readonly AclEntry[];
  readonly version: number;
  readonly mayChange: boolean;
}

type Found = Known | { readonly kind: 'unseen' | 'gone'; readonly path: string };

async function aclNow(api: Api, { path, stat }: FoundNode, signal: AbortSignal): Promise<Found> {
  if (stat === null) return { kind: 'unseen', path };
  try {
    const response = await api.ask('GET', '/node/acl', { query: { path }, signal });
    const { acl, may } = (await response.json()) as AclOf;
    if (acl === null) return { kind: 'unseen', path };
    return { kind: 'known', path, acl, version: versionOf(response), mayChange: may.admin };
  } catch (error) {
    if (statusOf(error) === 404) return { kind: 'gone', path };
    if (statusOf(error) === 403) return { kind: 'unseen', path };
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
