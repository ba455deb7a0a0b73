/**
 * How followers of an election see it: who leads, and whether it has said so. A follower that waits
 * watches the leader's znode and the place of its acknowledgement, and the directory only while
 * there is no candidate at all.
 */
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Node, OperationOptions } from '../../api/values.js';
import { bounds, persist, type Within } from './persist.js';
import { inLine, type Place } from './sequence.js';
import { changeOf, lookAt, lookAtChildren } from './sight.js';
import type { Line } from './waiting-line.js';

export interface ElectedLeader {
  readonly id: string;
  /** The candidate's znode. */
  readonly path: string;
  /** That of its term: the fencing token. */
  readonly token: bigint;
  /** What it told its followers; `data` is null when it told nothing but that it leads. */
  readonly acknowledgement: { readonly data: Buffer | null } | null;
}

export async function leaderOf(
  client: Client,
  line: Line,
  options: OperationOptions,
): Promise<ElectedLeader | null> {
  for (;;) {
    const first = await firstOf(client, line, options);
    if (first === null) return null;
    const path = joinPath(line.directory, first.name);
    const [node, ack] = await Promise.all([
      readOrNull(client, path, options),
      readOrNull(client, `${path}-ack`, options),
    ]);
    // Gone since the list was read: somebody else leads.
    if (node === null) continue;
    const acknowledgement = ack === null ? null : { data: ack.data };
    return { id: node.data?.toString() ?? '', path, token: node.stat.czxid, acknowledgement };
  }
}

export async function acknowledgedLeader(
  client: Client,
  line: Line,
  within: Within,
): Promise<ElectedLeader> {
  for (;;) {
    const first = await persist(client, within, () => firstOf(client, line, bounds(within)));
    const leader =
      first === null
        ? await waitForCandidate(client, line, within)
        : await waitForWord(client, joinPath(line.directory, first.name), within);
    if (leader !== null) return leader;
  }
}

async function waitForCandidate(client: Client, line: Line, within: Within): Promise<null> {
  const sight = await lookAtChildren(client, line.directory, within);
  try {
    if (inLine(sight.seen ?? [], line.markers).length === 0) await changeOf(sight, within);
    return null;
  } finally {
    sight.forget();
  }
}

/** Null when the candidate has gone, or anything else has changed, before it has acknowledged. */
async function waitForWord(
  client: Client,
  path: string,
  within: Within,
): Promise<ElectedLeader | null> {
  const ack = await lookAt(client, `${path}-ack`, within);
  try {
    const candidate = await lookAt(client, path, within);
    try {
      if (candidate.seen === null) return null;
      const { data, stat } = candidate.seen;
      if (ack.seen !== null) {
        const acknowledgement = { data: ack.seen.data };
        return { id: data?.toString() ?? '', path, token: stat.czxid, acknowledgement };
      }
      await changeOf({ ...ack, changed: Promise.race([ack.changed, candidate.changed]) }, within);
      return null;
    } finally {
      candidate.forget();
    }
  } finally {
    ack.forget();
  }
}

async function firstOf(
  client: Client,
  line: Line,
  options: OperationOptions,
): Promise<Place | null> {
  try {
    const { children } = await client.getChildren(line.directory, options);
    return inLine(children, line.markers)[0] ?? null;
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}

async function readOrNull(
  client: Client,
  path: string,
  options: OperationOptions,
): Promise<Node | null> {
  try {
    return await client.getData(path, options);
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}
