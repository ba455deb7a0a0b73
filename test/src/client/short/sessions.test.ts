/**
 * Sessions over members that are killed, stopped or without quorum.
 */
import { type Client, type ConnectOptions, connect, type StateChange } from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { type Ensemble, useEnsemble, useServingEnsemble } from '../../harness/ensemble.js';
import { fourLetterWord } from '../../harness/four-letter.js';
import { productUnderTest } from '../../harness/product.js';
import { until, within } from '../../harness/wait.js';

const DEADLINE_MS = 60_000;

async function clientOf(
  ensemble: Pick<Ensemble, 'ports'>,
  options: ConnectOptions = {},
): Promise<Client> {
  const hosts = ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
  const client = await connect(hosts, { sessionTimeoutMs: 6_000, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Resolves with the next change to this state. */
function change(client: Client, state: StateChange['state']): Promise<StateChange> {
  const reached = new Promise<StateChange>((resolve) => {
    const off = client.onState((told) => {
      if (told.state !== state) return;
      off();
      resolve(told);
    });
  });
  return within(`the client is ${state}`, DEADLINE_MS, reached);
}

it('goes on with its session and its watches at another member when its own is killed', async () => {
  const ensemble = await useServingEnsemble();
  const client = await clientOf(ensemble);
  await client.create('/e', '', { mode: 'ephemeral' });
  await client.create('/watched', 'old');
  const { session } = client;
  const changed = new Promise((resolve) => {
    client.getData('/watched', { watcher: resolve }).catch(resolve);
  });
  await client.sync('/');
  const own = ensemble.members.find(({ clientPort }) => client.server?.endsWith(`:${clientPort}`));
  const suspended = change(client, 'suspended');
  const connected = change(client, 'connected');
  await own?.kill();
  await suspended;
  expect((await connected).newSession).toBe(false);
  expect(client.session).toBe(session);
  const other = await clientOf({ ports: ensemble.running.map(({ clientPort }) => clientPort) });
  await other.sync('/e');
  expect((await other.exists('/e'))?.ephemeralOwner).toBe(session?.id);
  await other.setData('/watched', 'new');
  expect(await within('the watch fires', DEADLINE_MS, changed)).toMatchObject({
    type: 'dataChanged',
    path: '/watched',
  });
});

it('says that a session is lost before anybody sees its ephemerals gone, and opens another', async () => {
  const ensemble = await useServingEnsemble();
  const [first, ...rest] = ensemble.members;
  if (first === undefined) throw new Error('an ensemble without members');
  const client = await clientOf({ ports: [first.clientPort] });
  const { path } = await client.create('/e', '', { mode: 'ephemeral' });
  const observer = await clientOf({ ports: rest.map(({ clientPort }) => clientPort) });
  let lostAtMs = Number.POSITIVE_INFINITY;
  const { session } = client;
  session?.signal.addEventListener('abort', () => {
    lostAtMs = performance.now();
  });
  await observer.sync('/');
  const gone = new Promise<number>((resolve) => {
    const watcher = () => resolve(performance.now());
    observer.exists(path, { watcher }).catch(() => resolve(Number.NaN));
  });
  const renewed = change(client, 'connected');
  first.freeze();
  const goneAtMs = await within('the ephemeral is gone', DEADLINE_MS, gone);
  expect(lostAtMs).toBeLessThan(goneAtMs);
  first.thaw();
  expect(await renewed).toMatchObject({ newSession: true });
  expect(client.session?.id).not.toBe(session?.id);
});

it.skipIf(productUnderTest().name === 'apache')(
  'reads from a member without quorum if it may, and goes to one with quorum when there is',
  async () => {
    const ensemble = await useEnsemble({ settings: { readOnlyMode: true, peerTimeoutMs: 1_000 } });
    ensemble.start();
    await ensemble.serving();
    const writer = await clientOf(ensemble);
    await writer.create('/a', 'x');
    await writer.sync('/');
    await writer.close();
    const [alone, ...others] = ensemble.members;
    if (alone === undefined) throw new Error('an ensemble without members');
    for (const other of others) await other.kill();
    await until('the member serves reads', DEADLINE_MS, async () => {
      return (await fourLetterWord(alone.clientPort, 'isro')) === 'ro' ? true : undefined;
    });
    const client = await clientOf(ensemble, { readOnly: true });
    expect(client.readOnly).toBe(true);
    expect(String((await client.getData('/a')).data)).toBe('x');
    await expect(client.setData('/a', 'y')).rejects.toMatchObject({ name: 'NotReadOnlyError' });
    const writable = change(client, 'connected');
    ensemble.start(others.map(({ id }) => id));
    expect(await writable).toMatchObject({ readOnly: false, newSession: true });
    await client.setData('/a', 'y');
  },
);
