/**
 * The ephemerals that the members of an ensemble in memory contain, as clients see them; for the
 * named bugs in which one member kept what the others had lost.
 */
import { type Codec, ErrorCode, JuteReader, Stat } from '@rookery/protocol';
import { connected, type MemoryClient, type MemoryEnsemble } from '../simulated.js';

export const EPHEMERAL = 1;

const PATIENCE_MS = 60_000;
const STEP_MS = 500;

type Replied<T> = T extends Codec<infer Value> ? Value : never;

/** The Stat of the path at this client's member; null if there is no znode. */
export async function statOf(
  ensemble: MemoryEnsemble,
  client: MemoryClient,
  path: string,
): Promise<Replied<typeof Stat> | null> {
  const xid = client.exists(path);
  await ensemble.until(() => client.errorOf(xid) !== undefined, `was ${path} answered`);
  const reply = client.replies.find((one) => one.xid === xid);
  if (reply === undefined || reply.error !== ErrorCode.ok) return null;
  return Stat.read(new JuteReader(reply.body));
}

/**
 * Waits until the leader has no znode at the path: longer than any session of these scenarios
 * lives. `meanwhile` runs between the checks, to keep other sessions alive.
 */
export async function untilGone(
  ensemble: MemoryEnsemble,
  path: string,
  meanwhile: () => void = () => undefined,
): Promise<void> {
  const client = await connected(ensemble, ensemble.leader);
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += STEP_MS) {
    if ((await statOf(ensemble, client, path)) === null) return;
    meanwhile();
    await ensemble.timers.advance(STEP_MS);
  }
  throw new Error(`${path} still exists after ${PATIENCE_MS} ms`);
}

/** The paths that a member has; each member is asked by a client of its own. */
export async function heldByEach(
  ensemble: MemoryEnsemble,
  paths: readonly string[],
): Promise<readonly string[][]> {
  const held: string[][] = [];
  for (const { id } of ensemble.config.servers) {
    const client = await connected(ensemble, id);
    const present: string[] = [];
    for (const path of paths) {
      if ((await statOf(ensemble, client, path)) !== null) present.push(path);
    }
    held.push(present);
  }
  return held;
}

/** Ephemerals whose owner is not a session at some member, as `path at member`. */
export async function orphans(
  ensemble: MemoryEnsemble,
  paths: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { id } of ensemble.config.servers) {
    const client = await connected(ensemble, id);
    for (const path of paths) {
      const owner = Number((await statOf(ensemble, client, path))?.ephemeralOwner ?? 0);
      if (owner === 0) continue;
      for (const { id: member } of ensemble.config.servers) {
        if (!ensemble.member(member).knowsSession(owner)) found.push(`${path} at ${member}`);
      }
    }
  }
  return found;
}
