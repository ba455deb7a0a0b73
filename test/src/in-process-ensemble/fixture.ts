/**
 * What the tests of `startEnsemble` share: ensembles that end with their test, raw connections to
 * their members, and the state of a port as seen from outside.
 */
import { connect, createServer } from 'node:net';
import {
  EnsembleError,
  startEnsemble,
  type TestEnsemble,
  type TestEnsembleOptions,
  type TestMember,
} from '@rookery/server/testing';
import { onTestFinished } from 'vitest';
import { WireClient } from '../harness/wire-client.js';

/** The ensemble is stopped when the test ends. */
export async function started(options: TestEnsembleOptions = {}): Promise<TestEnsemble> {
  const ensemble = await startEnsemble(options);
  onTestFinished(() => ensemble.stop());
  return ensemble;
}

export async function follower(ensemble: TestEnsemble): Promise<TestMember> {
  const leader = await ensemble.leader();
  const found = ensemble.members.find(({ id, state }) => id !== leader.id && state === 'following');
  if (found === undefined) throw new Error('no member follows');
  return found;
}

export function portOf({ clientAddress }: TestMember): number {
  return Number(clientAddress.split(':')[1]);
}

/** The connection is dropped when the test ends. */
export async function clientOf(member: TestMember): Promise<WireClient> {
  const client = await WireClient.connect({ port: portOf(member) });
  onTestFinished(() => client.drop());
  return client;
}

/** The connection is dropped when the test ends. */
export async function resumed(member: TestMember, old: WireClient): Promise<WireClient> {
  const client = await WireClient.connect({ port: portOf(member), session: old.session });
  onTestFinished(() => client.drop());
  return client;
}

/** The code with which `work` rejects; `none` if it resolves. */
export function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => {
      if (error instanceof EnsembleError) return error.code;
      throw error;
    },
  );
}

/** `connected`, or the code of the error. */
export function dialled(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve('connected');
    });
    socket.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
  });
}

/** Rejects unless another socket can listen on the port. */
export async function listenOn(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
