/**
 * Processes of their own with a client: which of them end by themselves, and which keep a session
 * although their thread was busy for twice the session timeout.
 */
import { expect, it } from 'vitest';
import { runClient as run } from '../client/client-process.js';
import { type Behaviour, behaviours, HostileServer } from '../client/hostile-server.js';
import { sharedEnsemble } from '../client/shared-ensemble.js';
import { Random } from '../harness/random.js';

/** Nobody listens there. */
const NOWHERE = '127.0.0.1:1';

const ensemble = sharedEnsemble({ settings: { peerTimeoutMs: 1_000 } });
const servers = () =>
  ensemble()
    .ports.map((port) => `127.0.0.1:${port}`)
    .join(',');

it('a process ends by itself after close(), with and without a worker thread', async () => {
  expect(await run('closed', servers())).toBe('closed');
  expect(await run('closed with a worker', servers())).toBe('closed');
});

it('a process ends by itself when it closes, or gives up, without any server', async () => {
  expect(await run('closed unreachable', NOWHERE)).toBe('ClientClosedError');
  expect(await run('given up by a signal', NOWHERE)).toBe('AbortError');
});

it('a process ends by itself after close() although the server is silent or sends garbage', async () => {
  const hostile = behaviours(Random.forTest('process exit')).filter(isWorst);
  expect(hostile.length).toBe(3);
  for (const behaviour of hostile) {
    const server = await HostileServer.listen(behaviour);
    const ended = await run('closed unreachable', `127.0.0.1:${server.port}`);
    server.close();
    expect(ended, behaviour.name).toBe('ClientClosedError');
  }
});

it('every recipe that waits ends with its client, and the process with them', async () => {
  const { outcomes, ...rest } = await run('every recipe waits', servers()).then(toObject);
  expect(rest).toEqual({ before: [], watchCount: 0, deletionCount: 0 });
  const others = Object.entries(toObject(outcomes)).filter(
    ([, outcome]) => outcome !== 'ClientClosedError' && outcome !== 'LeaseLostError closed',
  );
  expect(others).toEqual([]);
});

it('an open client that is not to keep the process alive lets it end', async () => {
  expect(await run('not kept alive', servers())).toBe('connected');
  expect(await run('not kept alive, with a worker', servers())).toBe('connected');
});

it('a busy process keeps its session with a worker thread and loses it without', async () => {
  const kept = await run('blocked, with a worker', servers());
  expect(kept).toEqual({ same: true, owner: true, states: ['closed'] });
  const lost = await run('blocked', servers());
  expect(lost).toMatchObject({ owner: false, states: expect.arrayContaining(['lost']) });
});

function toObject(value: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value ?? {}));
}

function isWorst({ name }: Behaviour): boolean {
  return /^(silence at the handshake|garbage|half a connect reply, then silence)$/.test(name);
}
