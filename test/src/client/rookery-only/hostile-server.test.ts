/**
 * Servers that send garbage, half frames, late and duplicate replies, odd handshakes or nothing:
 * every operation settles with a typed error in its time, nothing is thrown anywhere, nothing is
 * left when the client is closed. That the process can exit is seen in client-process.test.ts.
 */
import { type Client, ClientError, createClient, KeeperError } from '@rookery/client';
import { expect, it } from 'vitest';
import { Random } from '../../harness/random.js';
import { until, within } from '../../harness/wait.js';
import {
  type Behaviour,
  behaviours,
  HostileServer,
  SESSION_TIMEOUT_MS,
} from '../hostile-server.js';

const OPERATION_MS = 400;
const DEADLINE_MS = 20_000;

function operations(client: Client, told: string[]): Promise<unknown>[] {
  const options = { timeoutMs: OPERATION_MS };
  const watcher = ({ type }: { readonly type: string }) => told.push(type);
  return [
    client.getData('/a', { ...options, watcher }),
    client.create('/b', 'x', options),
    client.exists('/a', { ...options, watcher }),
    client.multi([{ kind: 'delete', path: '/c' }], options),
    client.addWatch('/a', watcher, options),
    client.getChildren('/a', { ...options, watcher }),
    client.addAuth('digest', 'user:password', options),
    client.sync('/', options),
    client.whoAmI(options),
  ];
}

async function suffer(behaviour: Behaviour): Promise<void> {
  const server = await HostileServer.listen(behaviour);
  const client = createClient(`127.0.0.1:${server.port}`, {
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    reconnectDelayBaseMs: 10,
    reconnectDelayMaxMs: 50,
  });
  const told: string[] = [];
  const states: string[] = [];
  client.onState(({ state }) => states.push(state));
  try {
    for (let round = 0; round < 3; round++) {
      const settled = await within(
        `operations settle: ${behaviour.name}`,
        DEADLINE_MS,
        Promise.allSettled(operations(client, told)),
      );
      for (const result of settled) {
        if (result.status === 'fulfilled') continue;
        const { reason } = result;
        const isTyped = reason instanceof KeeperError || reason instanceof ClientError;
        expect(isTyped, `${behaviour.name}: ${String(reason)}`).toBe(true);
      }
    }
    await within(`close: ${behaviour.name}`, DEADLINE_MS, client.close());
    expect(client.watchCount, behaviour.name).toBe(0);
    expect(states.at(-1), behaviour.name).toBe('closed');
    await until(`sockets are closed: ${behaviour.name}`, DEADLINE_MS, () => {
      return server.sockets.size === 0 ? true : undefined;
    });
  } finally {
    await client.close();
    server.close();
  }
}

it('whatever a server sends, operations settle with typed errors and nothing is left', async () => {
  const all = behaviours(Random.forTest('hostile server'));
  expect(all.length).toBeGreaterThan(30);
  const results = await Promise.allSettled(all.map((behaviour) => suffer(behaviour)));
  const failures = results.flatMap((result, index) => {
    return result.status === 'rejected' ? [`${all[index]?.name}: ${result.reason}`] : [];
  });
  expect(failures).toEqual([]);
});
