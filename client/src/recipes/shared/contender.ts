/**
 * A znode that its creator can recognize, because its name contains a GUID. If the reply to the
 * create is lost, the creator looks for it instead of leaving an orphan that blocks everybody.
 *
 * A znode that is found is adopted only if it belongs to the session of this attempt, because one
 * of an earlier session is about to vanish (CURATOR-498, CURATOR-604). An attempt that ends without
 * a znode deletes it in the background, even if it is unknown whether it exists. One attempt never
 * leaves two znodes. Used by every recipe that has znodes of its own.
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
  untilOver,
  type Within,
  whenConnected,
} from './persist.js';

export interface ContenderPlan {
  /** The directory. It and its ancestors are created as containers if they are missing. */
  readonly parent: string;
  /**
   * The name without the number that the server appends. It contains a GUID, unless `token` is
   * given.
   */
  readonly prefix: string;
  readonly data: Data;
  /** For a name that others use too: a GUID with which the data begins. */
  readonly token?: string | undefined;
  readonly acl?: readonly Acl[] | undefined;
  /**
   * 'ephemeralSequential' by default. With 'ephemeral' and 'persistent', the prefix is the whole
   * name.
   */
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
  readonly session: Session;
  readonly czxid: bigint;
  /**
   * Whether no other znode can ever have this path, so that it may be deleted without reading it.
   */
  readonly isNameUnique: boolean;
}

/**
 * Creates the znode in the session, however often the connection is lost meanwhile. If it rejects,
 * no znode remains: if one may exist, it is deleted in the background.
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

/** Resolves when the contender's znode is deleted. It continues after lost connections. */
export async function deleteContender(client: Client, contender: Contender): Promise<void> {
  const { path, session } = contender;
  if (contender.isNameUnique) await client.deleteGuaranteed(path, { session: session.id });
  else await deleteIfSame(client, contender);
}

/**
 * The same in the background. It fails only with the end of the session or the client, which also
 * ends an ephemeral znode, or for lack of a permission, about which nobody can be told.
 */
export function abandonContender(client: Client, contender: Contender): void {
  deleteContender(client, contender).catch(ignoreEnd);
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
      // Recorded here, because the creation of the parents may be ambiguous too and does not count.
      if (isAmbiguous(error)) attempt.mayExist = true;
      throw error;
    }
  });
  return contenderAt(plan, nameIn(plan.parent, created.path), within, created.stat.czxid);
}

/**
 * Finds the plan's znodes that belong to the session. The sync comes first, because the create may
 * have been committed without the current member having applied it, or may be proposed and not yet
 * committed, and a sync waits for that too. A create that is still on its way through another
 * member is refused, because the session has moved.
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
    if (!mayBeOf(plan, name)) continue;
    const czxid = await czxidOfOwn(client, plan, joinPath(plan.parent, name), within);
    if (czxid !== null) found.push(contenderAt(plan, name, within, czxid));
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

/** Null if there is none, or if it belongs to another session or another attempt. */
async function czxidOfOwn(
  client: Client,
  plan: ContenderPlan,
  path: string,
  within: Within,
): Promise<bigint | null> {
  try {
    const { data, stat } = await client.getData(path, bounds(within));
    const isPersistent = plan.mode === 'persistent' || plan.mode === 'persistentSequential';
    const isOwn = stat.ephemeralOwner === (isPersistent ? 0n : within.session.id);
    const { token = '' } = plan;
    return isOwn && (data ?? '').toString().startsWith(token) ? stat.czxid : null;
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}

function mayBeOf(plan: ContenderPlan, name: string): boolean {
  const isWhole = plan.mode === 'ephemeral' || plan.mode === 'persistent';
  return isWhole ? name === plan.prefix : name.startsWith(plan.prefix);
}

function contenderAt(plan: ContenderPlan, name: string, within: Within, czxid: bigint): Contender {
  const isNameUnique = plan.token === undefined;
  const path = joinPath(plan.parent, name);
  return { path, name, session: within.session, czxid, isNameUnique };
}

function nameIn(parent: string, path: string): string {
  return path.slice(parent === '/' ? 1 : parent.length + 1);
}

/** Finds what the plan may have created and deletes it; ends with the session. */
function abandonUnknown(client: Client, plan: ContenderPlan, session: Session): void {
  if (session.signal.aborted) return;
  const within = untilOver(session);
  const cleanUp = async () => {
    const found = await persist(client, within, () => findContenders(client, plan, within));
    for (const contender of found) abandonContender(client, contender);
  };
  cleanUp().catch(ignoreEnd);
}

/**
 * Deletes the znode at the path only if it is the contender's. After a lost reply, that one may be
 * gone and another at its path. Nobody else deletes ours between the read and the deletion.
 */
async function deleteIfSame(client: Client, contender: Contender): Promise<void> {
  const within = untilOver(contender.session);
  const options = bounds(within);
  await persist(client, within, async () => {
    try {
      await client.sync(contender.path, options);
      const { stat } = await client.getData(contender.path, options);
      if (stat.czxid === contender.czxid) await client.delete(contender.path, options);
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
  });
}

function ignoreEnd(): void {
  // See abandonContender.
}
