/**
 * A znode that its creator can find again: made with a GUID in its name, so that when the reply to
 * the create is lost the creator looks for it instead of leaving an orphan that blocks everybody.
 *
 * What is found is adopted only if it belongs to the very session of this attempt: one of an
 * earlier session is about to vanish (CURATOR-498, CURATOR-604). An attempt that ends without its
 * znode deletes it in the background, also when it does not know whether there is one. One attempt
 * never makes two that stay. Used by every recipe with znodes of its own.
 */
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Acl, Data, Session } from '../../api/values.js';
import { inContainer } from './container-parent.js';
import {
  bounds,
  isAmbiguous,
  isTrouble,
  pauseBetween,
  persist,
  type Within,
  whenConnected,
} from './persist.js';

export interface ContenderPlan {
  /** The directory; it and what is above it are created as containers when missing. */
  readonly parent: string;
  /** The name, up to the number that the server appends; must be unique: contain a GUID. */
  readonly prefix: string;
  readonly data: Data;
  readonly acl?: readonly Acl[] | undefined;
  /** 'ephemeralSequential' by default; 'ephemeral' and 'persistent' take the prefix as the name. */
  readonly mode?:
    | 'ephemeralSequential'
    | 'ephemeral'
    | 'persistentSequential'
    | 'persistent'
    | undefined;
}

export interface Contender {
  readonly path: string;
  readonly name: string;
  readonly sessionId: bigint;
  readonly czxid: bigint;
}

/**
 * Creates the znode within the session, however often the connection is lost meanwhile. When it
 * rejects, no znode stays: what may exist is deleted in the background.
 */
export async function createContender(
  client: Client,
  plan: ContenderPlan,
  within: Within,
): Promise<Contender> {
  const attempt = { mayExist: false };
  try {
    return await createOrFind(client, plan, within, attempt);
  } catch (error) {
    if (attempt.mayExist) abandonUnknown(client, plan, within.session);
    throw error;
  }
}

/** Deletes a contender in the background, until done or its session is over. */
export function abandonContender(client: Client, contender: Contender): void {
  deleteInBackground(client, contender.path, contender.sessionId);
}

async function createOrFind(
  client: Client,
  plan: ContenderPlan,
  within: Within,
  attempt: { mayExist: boolean },
): Promise<Contender> {
  for (let failures = 0; ; failures++) {
    try {
      await whenConnected(client, within);
      if (attempt.mayExist) {
        const [found, ...surplus] = await findContenders(client, plan, within);
        for (const other of surplus) abandonContender(client, other);
        if (found !== undefined) return found;
        attempt.mayExist = false;
      }
      return await createOnce(client, plan, within, attempt);
    } catch (error) {
      within.signal.throwIfAborted();
      if (!isTrouble(error)) throw error;
      await pauseBetween(client, failures, within.signal);
    }
  }
}

async function createOnce(
  client: Client,
  plan: ContenderPlan,
  within: Within,
  attempt: { mayExist: boolean },
): Promise<Contender> {
  const options = { ...bounds(within), mode: plan.mode ?? 'ephemeralSequential' } as const;
  const parents = { ...bounds(within), acl: plan.acl };
  const created = await inContainer(client, plan.parent, parents, async () => {
    try {
      const given = plan.acl === undefined ? options : { ...options, acl: plan.acl };
      return await client.create(joinPath(plan.parent, plan.prefix), plan.data, given);
    } catch (error) {
      // Noted here: the parents' creation, which may be ambiguous too, is none of the contender's.
      if (isAmbiguous(error)) attempt.mayExist = true;
      throw error;
    }
  });
  const name = nameIn(plan.parent, created.path);
  return { path: created.path, name, sessionId: within.session.id, czxid: created.stat.czxid };
}

/**
 * The plan's znodes that belong to the session. The sync first: the create may have been committed
 * without the member that we are connected to now knowing of it yet. A create that is still on its
 * way through another member is refused there, for the session has moved.
 */
async function findContenders(
  client: Client,
  plan: ContenderPlan,
  within: Within,
): Promise<Contender[]> {
  const options = bounds(within);
  await client.sync(plan.parent, options);
  const found: Contender[] = [];
  for (const name of await namesIn(client, plan.parent, within)) {
    if (!name.startsWith(plan.prefix)) continue;
    const path = joinPath(plan.parent, name);
    const stat = await client.exists(path, options);
    if (stat === null || !isOwn(plan, stat.ephemeralOwner, within.session)) continue;
    found.push({ path, name, sessionId: within.session.id, czxid: stat.czxid });
  }
  return found.sort((left, right) => (left.czxid < right.czxid ? -1 : 1));
}

async function namesIn(client: Client, parent: string, within: Within): Promise<readonly string[]> {
  try {
    return (await client.getChildren(parent, bounds(within))).children;
  } catch (error) {
    if (error instanceof NoNodeError) return [];
    throw error;
  }
}

function isOwn(plan: ContenderPlan, owner: bigint, session: Session): boolean {
  const isPersistent = plan.mode === 'persistent' || plan.mode === 'persistentSequential';
  return owner === (isPersistent ? 0n : session.id);
}

function nameIn(parent: string, path: string): string {
  return path.slice(parent === '/' ? 1 : parent.length + 1);
}

/** Looks for what the plan may have made and deletes it; ends with the session. */
function abandonUnknown(client: Client, plan: ContenderPlan, session: Session): void {
  if (session.signal.aborted) return;
  const within = { session, signal: session.signal };
  const cleanUp = async () => {
    const found = await persist(client, within, () => findContenders(client, plan, within));
    for (const contender of found) abandonContender(client, contender);
  };
  cleanUp().catch(ignoreEndOfSession);
}

/**
 * deleteGuaranteed, unattended. What rejects it is the end of the session or of the client, which
 * ends an ephemeral znode too, or a missing permission, of which there is nobody left to tell.
 */
export function deleteInBackground(client: Client, path: string, session: bigint): void {
  client.deleteGuaranteed(path, { session }).catch(ignoreEndOfSession);
}

function ignoreEndOfSession(): void {
  // The session's end has deleted, or is about to delete, what was to be deleted here.
}
