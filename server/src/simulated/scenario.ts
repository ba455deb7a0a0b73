/**
 * For tests: the steps that scenarios of a memory ensemble are made of.
 */
import { assert, ErrorCode } from '@rookery/protocol';
import type { MemoryClient } from './memory-client.js';
import { MemoryEnsemble, type MemoryEnsembleOptions } from './memory-ensemble.js';

/** A log that is purged after a few writes. */
export const TINY_LOG = {
  logKeepBytes: 2_000,
  logSegmentBytes: 4_000,
  checkpointLogBytes: 1_000,
  checkpointBlockBytes: 500,
  windowBytes: 500,
};

export async function serving(
  options: Partial<MemoryEnsembleOptions> = {},
): Promise<MemoryEnsemble> {
  const ensemble = new MemoryEnsemble({ size: 3, seed: 1, ...options });
  await ensemble.start();
  await everyoneServes(ensemble);
  return ensemble;
}

export async function everyoneServes(ensemble: MemoryEnsemble): Promise<void> {
  const ids = ensemble.config.servers.map((server) => server.id);
  await ensemble.until(() => ids.every((id) => ensemble.serves(id)), 'did all members serve');
}

export async function connected(ensemble: MemoryEnsemble, id: number): Promise<MemoryClient> {
  const client = await ensemble.client(id);
  client.connect();
  await ensemble.until(() => client.connected !== null, `was a session opened at ${id}`);
  return client;
}

export async function write(
  ensemble: MemoryEnsemble,
  client: MemoryClient,
  paths: readonly string[],
) {
  const xids = paths.map((path) => client.create(path, 'x'.repeat(100)));
  await ensemble.until(
    () => xids.every((xid) => client.errorOf(xid) !== undefined),
    `were ${paths[0]} and the rest answered`,
  );
  const refused = paths.filter((_, index) => client.errorOf(xids[index] ?? -1) !== ErrorCode.ok);
  assert(refused.length === 0, () => `refused: ${refused.join(' ')}`);
}

export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/${prefix}-${index}`);
}

export async function expectEqual(ensemble: MemoryEnsemble): Promise<void> {
  const ids = ensemble.config.servers.map((server) => server.id);
  const digests = () => ids.map((id) => JSON.stringify(ensemble.member(id).status.digests));
  await ensemble.until(() => new Set(digests()).size === 1, 'were all digests equal');
}

export function follower(ensemble: MemoryEnsemble): number {
  return ensemble.leader === 1 ? 2 : 1;
}

/** How often a member has logged one of these events. */
export function notesOf(
  { lines }: MemoryEnsemble,
  id: number,
  ...events: readonly string[]
): number {
  const all = lines.map((line) => JSON.parse(line));
  return all.filter(({ member, msg }) => member === id && events.includes(msg)).length;
}

/**
 * `other` starts, `alone` attempts to follow or to lead it, and loses its links before it serves.
 * Both were without a quorum.
 */
export async function failedAttempt(
  ensemble: MemoryEnsemble,
  { alone, other }: { readonly alone: number; readonly other: number },
): Promise<void> {
  const attempts = () => notesOf(ensemble, alone, 'role.following', 'role.leading');
  const looks = () => notesOf(ensemble, alone, 'role.looking');
  const before = { attempts: attempts(), looks: looks() };
  await ensemble.start(other);
  await ensemble.until(() => attempts() > before.attempts, 'did it attempt to serve');
  ensemble.cutOff(alone);
  await ensemble.until(() => looks() > before.looks, 'did the attempt fail');
}

/** Returns a copy of the member's disk, which is an old one since the member has started again. */
export async function oldCopyOf(ensemble: MemoryEnsemble, id: number) {
  await ensemble.stop(id);
  const copy = ensemble.copyOf(id);
  await ensemble.start(id);
  await everyoneServes(ensemble);
  return copy;
}

export function notes(ensemble: MemoryEnsemble, event: string): number {
  return ensemble.lines.filter((line) => line.includes(`"msg":"${event}"`)).length;
}
