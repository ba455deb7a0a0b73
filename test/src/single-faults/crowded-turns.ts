/**
 * Work that one write used to force upon one turn: the reads that its sessions sent before it, and
 * the watch events of all its changes.
 *
 * Sixty connections of one address send a read that takes long between two writes, again and again,
 * and large multis change what 120 connections watch. The other clients wait for neither, and the
 * leader stays. The first kind is harmless: what others wait for meanwhile is what this machine
 * takes.
 */
import {
  AddWatchRequest,
  MultiReadRequest,
  MultiRequest,
  type MultiRequestOp,
  OpCode,
  PathWatchRequest,
  Perms,
  SetDataRequest,
  SetWatchesRequest,
} from '@rookery/protocol';
import { create, sendCreates } from '../harness/operations.js';
import { ConnectionLost, type Reply, WireClient } from '../harness/wire-client.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

/** An address of its own, because what one address may have is bounded, too. */
const CROWD = '127.0.0.2';
const WAIT_MS_MAX = 100;
const READERS = 60;
const WATCHERS = 120;
const ROUNDS = 5;
const OPS = 4_096;
/** So many that a multiRead of their lists takes as long as one may. */
const LISTED = 24;
const SET_AGAIN = 10_000;
const OWN = '/own';
const LIST = '/list';
const FAN = '/fan';
const RECURSIVE = 1;

const world = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];

type Read = (client: WireClient) => Promise<Reply>;

const readOne: Read = (client) =>
  client.request(OpCode.exists, PathWatchRequest, { path: LIST, watch: false });

const readLists: Read = (client) => {
  const op = { opcode: OpCode.getChildren, request: { path: LIST, watch: false } } as const;
  return client.request(OpCode.multiRead, MultiReadRequest, { ops: Array(OPS).fill(op) });
};

const setAgain: Read = (client) =>
  client.request(OpCode.setWatches, SetWatchesRequest, {
    relativeZxid: 0,
    dataWatches: Array.from({ length: SET_AGAIN }, (_, index) => `/gone${index}`),
    existWatches: [],
    childWatches: [],
  });

const READS: readonly (readonly [string, Read])[] = [
  ['a harmless read, for comparison', readOne],
  ['a multiRead of 4,096 lists', readLists],
  ['setWatches with 10,000 paths', setAgain],
];

export const crowdedTurns: Scenario = {
  name: 'crowded-turns',
  promise: 'reads before writes, and events of large multis, hold up no other client for long',
  async play({ report }: PlayOptions) {
    const stage = await Stage.set();
    const bounds = { waitMsMax: WAIT_MS_MAX };
    try {
      await prepare(stage);
      for (const [name, read] of READS) {
        const fault = `${READERS} connections to the leader, each with ${name} between two writes`;
        report(await stage.play(fault, bounds, (notes) => readBetween(stage, read, notes)));
      }
      const fault = `multis of ${OPS} changes that ${WATCHERS} connections to the leader watch`;
      report(await stage.play(fault, bounds, (notes) => fanOut(stage, notes)));
    } finally {
      await stage.strike();
    }
  },
};

async function prepare(stage: Stage): Promise<void> {
  const [client] = await connections(stage, 1);
  if (client === undefined) return;
  for (const path of [OWN, LIST, FAN]) await create(client, path);
  await sendCreates(
    client,
    Array.from({ length: LISTED }, (_, index) => `${LIST}/child-${index}`),
  );
  await client.close();
}

async function connections(stage: Stage, count: number): Promise<readonly WireClient[]> {
  const { clientPort: port } = await stage.ensemble.leader();
  const open = () =>
    WireClient.connect({ port, localAddress: CROWD, recording: false, timeoutMs: 30_000 });
  return await Promise.all(Array.from({ length: count }, open));
}

async function readBetween(stage: Stage, read: Read, notes: PlayNotes): Promise<void> {
  const clients = await connections(stage, READERS);
  const answers = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const sent = clients.flatMap((client) =>
      client.pipeline(() => [write(client), read(client), write(client)]),
    );
    for (const answer of await Promise.allSettled(sent)) count(answers, answer);
  }
  notes.said(`answers: ${[...answers].map(([answer, times]) => `${times} ${answer}`).join(', ')}`);
  await Promise.all(clients.map((client) => client.drop()));
}

function write(client: WireClient): Promise<Reply> {
  return client.request(OpCode.setData, SetDataRequest, { path: OWN, data: null, version: -1 });
}

function count(answers: Map<string, number>, answer: PromiseSettledResult<Reply>): void {
  const text = answer.status === 'fulfilled' ? `error ${answer.value.error}` : lost(answer.reason);
  answers.set(text, (answers.get(text) ?? 0) + 1);
}

function lost(reason: unknown): string {
  return reason instanceof ConnectionLost ? 'connection ended' : String(reason);
}

async function fanOut(stage: Stage, notes: PlayNotes): Promise<void> {
  const watchers = await connections(stage, WATCHERS);
  const [author] = await connections(stage, 1);
  if (author === undefined) return;
  for (const watcher of watchers) {
    await watcher.request(OpCode.addWatch, AddWatchRequest, { path: FAN, mode: RECURSIVE });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const paths = Array.from({ length: OPS }, (_, index) => `${FAN}/${index}`);
    await multi(author, paths, notes, (path) => ({
      opcode: OpCode.create,
      request: { path, data: null, acl: world, flags: 0 },
    }));
    await multi(author, paths, notes, (path) => ({
      opcode: OpCode.delete,
      request: { path, version: -1 },
    }));
  }
  const stayed = watchers.filter(({ open }) => open).length;
  notes.said(`${stayed} of ${WATCHERS} watchers stay connected`);
  await Promise.all([...watchers, author].map((client) => client.drop()));
}

async function multi(
  client: WireClient,
  paths: readonly string[],
  notes: PlayNotes,
  opOf: (path: string) => MultiRequestOp,
): Promise<void> {
  const { error } = await client.request(OpCode.multi, MultiRequest, { ops: paths.map(opOf) });
  if (error !== 0) notes.broken(`a multi was answered with ${error}`);
}
