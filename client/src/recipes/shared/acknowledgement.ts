/**
 * An election as its followers see it: who leads, and whether that leader has acknowledged. A
 * waiting follower watches the leader's znode and the path of its acknowledgement. It watches the
 * directory only while there is no candidate.
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
  /** The path of the candidate's znode. */
  readonly path: string;
  /** The fencing token of its term. */
  readonly token: bigint;
  /** What it told its followers. `data` is null if it only announced that it leads. */
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
    // It was deleted since the list was read, so another candidate leads.
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

/** Null if the candidate is gone, or anything else has changed, before it has acknowledged. */
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
