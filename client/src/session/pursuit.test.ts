import { channel } from 'node:diagnostics_channel';
import { expect, it } from 'vitest';
import { ScriptedClient, SESSION_TIMEOUT_MS } from '../testing/scripted-client.js';
import { turn } from '../testing/scripted-server.js';

const SESSION = { id: 1, timeoutMs: SESSION_TIMEOUT_MS };

it('asks the next server beside one whose address does not answer at all', async () => {
  const scripted = new ScriptedClient();
  await scripted.pass(260, 10);
  expect(scripted.network.links.map(({ address }) => address.ip)).toEqual(['a', 'b']);
  const [black, second] = scripted.network.links;
  second?.open();
  await turn();
  second?.answerHandshake(SESSION);
  await turn();
  expect(scripted.client.server).toBe('b:2181');
  expect(black?.isClosed).toBe(true);
});

it('asks the next server at once when one refuses', async () => {
  const scripted = new ScriptedClient();
  scripted.network.onDial = (link) => {
    if (link.address.ip === 'c') link.open();
    else link.close(new Error('refused'));
  };
  await turn();
  scripted.network.last.answerHandshake(SESSION);
  expect(scripted.client.server).toBe('c:2181');
});

it('claims the session from one server at a time', async () => {
  const scripted = new ScriptedClient();
  scripted.network.onDial = (link) => link.open();
  await scripted.pass(900, 10);
  const asked = () =>
    scripted.network.links.filter((link) => link.handshake !== null && !link.isClosed);
  expect(scripted.network.links.length).toBe(3);
  expect(asked().length).toBe(1);
  // A silent one is passed over when another is open, long before its own deadline.
  await scripted.pass(300, 10);
  expect(asked().map(({ address }) => address.ip)).toEqual(['b']);
});

it('gets a session from servers that are all slower than an attempt may be at first', async () => {
  const scripted = new ScriptedClient();
  const { network, surroundings, client } = scripted;
  network.onDial = (link) => link.open();
  const asked = new Set<unknown>();
  for (let ms = 0; ms < 40_000 && client.state !== 'connected'; ms += 100) {
    for (const link of network.links.filter(({ handshake }) => handshake !== null)) {
      if (asked.has(link)) continue;
      asked.add(link);
      surroundings.setTimer(4_000, () => link.answerHandshake(SESSION));
    }
    await scripted.pass(100);
  }
  expect(client.state).toBe('connected');
  // Two rounds of the usual time, and one of twice as much.
  expect(asked.size).toBe(9);
});

it('tries all addresses of a name, and asks for them anew in each round', async () => {
  let round = 0;
  const scripted = new ScriptedClient({
    connectString: 'name:99',
    resolve: async () => {
      round++;
      return round === 1 ? ['10.0.0.1', '::1'] : ['10.0.0.7'];
    },
  });
  scripted.network.onDial = (link) => link.close(new Error('refused'));
  await scripted.pass(200, 10);
  const tried = scripted.network.links.map(({ address }) => address);
  expect(tried.slice(0, 3).map(({ ip }) => ip)).toEqual(['10.0.0.1', '::1', '10.0.0.7']);
  expect(tried[0]?.server).toEqual({ host: 'name', port: 99 });
});

it('goes on to the other servers while a name is not resolved', async () => {
  const scripted = new ScriptedClient({
    connectString: 'slow,fast',
    resolve: (host) => (host === 'slow' ? new Promise(() => undefined) : Promise.resolve([host])),
  });
  scripted.network.onDial = (link) => link.open();
  await scripted.pass(300, 10);
  scripted.network.last.answerHandshake(SESSION);
  expect(scripted.client.server).toBe('fast:2181');
  const closing = scripted.client.close();
  await turn();
  scripted.network.last.reply();
  await closing;
  expect(scripted.surroundings.timerCount).toBe(0);
});

it('waits for a name that takes longer than the next attempt', async () => {
  let found: (ips: string[]) => void = () => undefined;
  const scripted = new ScriptedClient({
    connectString: 'slow',
    resolve: () =>
      new Promise((resolve) => {
        found = resolve;
      }),
  });
  await scripted.pass(1_000);
  found(['10.0.0.9']);
  await turn();
  expect(scripted.network.last.address.ip).toBe('10.0.0.9');
});

it('starts behind the server that it has lost', async () => {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  scripted.network.last.close();
  const link = await scripted.nextHandshake();
  expect(link.address.ip).toBe('b');
});

it('tells an operation that times out why there is no connection', async () => {
  const scripted = new ScriptedClient();
  scripted.network.onDial = (link) => link.close(new Error('refused by a test'));
  const read = scripted.client.getData('/a', { timeoutMs: 1_000 });
  read.catch(() => undefined);
  await scripted.pass(1_000);
  const error: unknown = await read.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ cause: { cause: { message: 'refused by a test' } } });
});

it('tells those who listen which server was asked in vain, and why', async () => {
  const told: unknown[] = [];
  const listener = (message: unknown) => told.push(message);
  channel('rookery:client:attempt').subscribe(listener);
  try {
    const scripted = new ScriptedClient({
      connectString: 'nowhere,10.0.0.1',
      resolve: async (host) => {
        if (host === 'nowhere') throw new Error('getaddrinfo ENOTFOUND nowhere');
        return [host];
      },
    });
    scripted.network.onDial = (link) => link.close(new Error('refused'));
    await turn();
    expect(told).toMatchObject([
      { server: 'nowhere:2181', error: { message: 'getaddrinfo ENOTFOUND nowhere' } },
      { server: '10.0.0.1:2181', error: { message: 'the connection was lost (refused)' } },
    ]);
    await scripted.client.close();
  } finally {
    channel('rookery:client:attempt').unsubscribe(listener);
  }
});

it('says what it may mean that a server hangs up before it gives a session', async () => {
  const scripted = new ScriptedClient();
  const failing = scripted.client.getData('/a', { timeoutMs: 1_000 });
  const outcome = expect(failing).rejects.toThrow('hung up early: no quorum, or TLS mismatch?');
  scripted.network.onDial = (link) => {
    link.open();
    link.close();
  };
  await scripted.pass(1_100, 10);
  await outcome;
});

it('says which server did not answer, and for how long', async () => {
  const scripted = new ScriptedClient({ connectString: 'silent:7' });
  const failing = scripted.client.getData('/a', { timeoutMs: SESSION_TIMEOUT_MS * 3 });
  const outcome = expect(failing).rejects.toThrow(/silent:7 did not answer within \d+ ms/);
  await scripted.pass(SESSION_TIMEOUT_MS * 3 + 100, 10);
  await outcome;
});
