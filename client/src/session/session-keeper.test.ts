import { OpCode, PING_XID } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { StateChange } from '../api/values.js';
import { ScriptedClient, SESSION_TIMEOUT_MS } from '../testing/scripted-client.js';
import { dataBody, turn } from '../testing/scripted-server.js';

async function connected(
  ...args: ConstructorParameters<typeof ScriptedClient>
): Promise<ScriptedClient> {
  const scripted = new ScriptedClient(...args);
  await scripted.accept(1);
  return scripted;
}

/** How it has settled: its value, its error, or 'pending'. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  const settled = promise.then(
    (value) => value,
    (error: unknown) => error,
  );
  return await Promise.race([settled, turn().then(() => 'pending')]);
}

it('says that a sent write is ambiguous at a lost connection, a read and an unsent one not', async () => {
  const { client, network } = await connected();
  const write = client.setData('/a', 'x');
  const read = client.exists('/a');
  await turn();
  network.last.close();
  const unsent = client.setData('/b', 'y');
  expect(await outcome(write)).toMatchObject({ name: 'ConnectionLossError', ambiguous: true });
  expect(await outcome(read)).toMatchObject({ name: 'ConnectionLossError', ambiguous: false });
  expect(await outcome(unsent)).toBe('pending');
  await client.close();
  expect(await outcome(unsent)).toMatchObject({ name: 'ClientClosedError', ambiguous: false });
});

it('sends what waited to the resumed session once, and what was sent never again', async () => {
  const scripted = await connected();
  const { client, network } = scripted;
  void outcome(client.delete('/sent'));
  await turn();
  network.last.close();
  const waiting = client.delete('/waiting');
  await scripted.accept(1);
  expect(network.last.received.map(({ opcode }) => opcode)).toEqual([OpCode.delete]);
  network.last.reply();
  await waiting;
});

it('lets no operation cross from a lost session to the next', async () => {
  const scripted = await connected();
  const { client, network } = scripted;
  network.last.close();
  const waiting = client.delete('/a');
  const link = await scripted.nextHandshake();
  link.refuseSession();
  expect(await outcome(waiting)).toMatchObject({ name: 'SessionExpiredError', ambiguous: false });
  await scripted.accept(2);
  expect(network.last.received).toEqual([]);
});

it('is lost before the server can have expired it, counted from the last answered request', async () => {
  const scripted = await connected();
  const { client, network, states, surroundings } = scripted;
  const { signal } = client.session ?? {};
  await scripted.pass(3_050);
  expect(network.last.pingCount).toBe(1);
  network.last.answersPings = false;
  await scripted.pass(3_000);
  // The ping of about 3,000 was answered; those after it are not.
  let lostAtMs = Number.NaN;
  signal?.addEventListener('abort', () => {
    lostAtMs = surroundings.nowMs();
  });
  await scripted.pass(8_000);
  expect(states.slice(0, 4)).toEqual(['connected', 'suspended', 'lost', 'connecting']);
  expect(lostAtMs).toBeGreaterThan(3_000 + SESSION_TIMEOUT_MS * 0.85);
  expect(lostAtMs).toBeLessThan(3_000 + SESSION_TIMEOUT_MS);
  expect(signal?.reason).toMatchObject({ name: 'SessionExpiredError' });
});

it('never resumes a session that it has counted as lost', async () => {
  const scripted = await connected();
  scripted.network.last.close();
  await scripted.pass(SESSION_TIMEOUT_MS);
  expect(scripted.states.at(-1)).toBe('connecting');
  const link = await scripted.nextHandshake();
  expect(link.handshake?.sessionId).toBe(0);
});

it('keeps a session whose answers waited in the socket while the process was busy', async () => {
  const { client, network, surroundings, states } = await connected();
  surroundings.advance(3_100);
  const { last } = network;
  last.answersPings = false;
  await turn();
  const read = client.getData('/a');
  await turn();
  // All at once: timers that are late, and then the answers that had come in time.
  setImmediate(() => {
    last.replyTo(PING_XID, { zxid: 0 });
    last.reply({ body: dataBody('x') });
  });
  surroundings.advance(5_500);
  await turn();
  expect(await outcome(read)).toMatchObject({ data: Buffer.from('x') });
  expect(states).toEqual(['connected']);
});

it('stays lost and refuses everything when it is not to be renewed', async () => {
  const scripted = await connected({ renewSession: false });
  const { client, network, states } = scripted;
  network.last.close();
  (await scripted.nextHandshake()).refuseSession();
  await turn();
  expect(states).toEqual(['connected', 'suspended', 'lost']);
  for (const refused of [client.exists('/a'), client.connected(), client.sync('/')]) {
    expect(await outcome(refused)).toMatchObject({ name: 'SessionExpiredError' });
  }
  await scripted.pass(20_000);
  expect(network.liveCount).toBe(0);
  await client.close();
  expect(scripted.surroundings.timerCount).toBe(0);
});

it('refuses, unsent, what is meant for another session', async () => {
  const { client, network } = await connected();
  expect(await outcome(client.delete('/a', { session: 9n }))).toMatchObject({
    name: 'SessionExpiredError',
    ambiguous: false,
  });
  void outcome(client.delete('/a', { session: 1n }));
  await turn();
  expect(network.last.received.length).toBe(1);
});

it('resumes a session given by id and password, and tells when it is over', async () => {
  const password = new Uint8Array(16).fill(3);
  const scripted = new ScriptedClient({ resume: { sessionId: 77n, password } });
  const link = await scripted.nextHandshake();
  expect(link.handshake).toMatchObject({ sessionId: 77, password: Buffer.from(password) });
  link.refuseSession();
  await turn();
  expect(scripted.states).toEqual(['lost', 'connecting']);
  await scripted.accept(78);
  expect(scripted.client.session?.id).toBe(78n);
});

it('tells of each state in order, also when a listener causes the next', async () => {
  const scripted = await connected();
  const { client, network } = scripted;
  const seen: string[] = [];
  client.onState(({ state }) => {
    if (state === 'suspended') void client.close();
  });
  client.onState(({ state }) => {
    seen.push(state);
  });
  const iterated: StateChange[] = [];
  const iteration = (async () => {
    for await (const change of client.states()) iterated.push(change);
  })();
  await turn();
  network.last.close();
  await iteration;
  expect(seen).toEqual(['suspended', 'closed']);
  expect(iterated.map(({ state }) => state)).toEqual(['connected', 'suspended', 'closed']);
});

it('reports what a listener throws as uncaught and goes on', async () => {
  const { client, network, states } = await connected();
  const uncaught: unknown[] = [];
  const previous = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error));
  try {
    client.onState(() => {
      throw new Error('of a listener');
    });
    network.last.close();
    await turn();
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of previous) process.on('uncaughtException', listener);
  }
  expect(uncaught).toMatchObject([{ message: 'of a listener' }]);
  expect(states).toEqual(['connected', 'suspended']);
});

it('runs the code that awaits a reply before the watcher of an event behind it', async () => {
  const { client, network } = await connected();
  const order: string[] = [];
  const reading = (async () => {
    await client.getData('/a', { watcher: () => order.push('event') });
    order.push('read');
    await null;
    order.push('after');
  })();
  const second = client.getData('/a').then(() => order.push('second'));
  await turn();
  const { last } = network;
  const frames: Uint8Array[] = [];
  const send = last.raw.bind(last);
  last.raw = (bytes) => frames.push(Uint8Array.from(bytes));
  last.reply({ body: dataBody('x') });
  last.event({ type: 3, state: 3, path: '/a' });
  last.reply({ body: dataBody('y') });
  send(Buffer.concat(frames));
  await Promise.all([reading, second]);
  await turn();
  expect(order).toEqual(['read', 'after', 'event', 'second']);
});

it('settles an operation that was given up after it was sent once, and says it is ambiguous', async () => {
  const { client, network, keeper } = await connected();
  const abort = new AbortController();
  const write = client.setData('/a', 'x', { signal: abort.signal });
  const next = client.getData('/a');
  await turn();
  abort.abort('why');
  expect(await outcome(write)).toMatchObject({ name: 'AbortError', cause: 'why', ambiguous: true });
  network.last.reply({ error: -101 });
  network.last.reply({ body: dataBody('x') });
  expect(await outcome(next)).toMatchObject({ data: Buffer.from('x') });
  expect(keeper.outstandingCount).toBe(0);
});

it('refuses more than outstandingMax requests, queued or in flight', async () => {
  const { client, network } = await connected({ outstandingMax: 2 });
  const kept = [client.getData('/a'), client.getData('/b')];
  expect(await outcome(client.getData('/c'))).toMatchObject({ code: 'TOO_MANY_OUTSTANDING' });
  await turn();
  network.last.reply({ body: dataBody('') });
  await kept[0];
  void outcome(client.getData('/d'));
  await turn();
  expect(network.last.received.length).toBe(3);
  void outcome(Promise.all(kept));
});

it('refuses a request larger than servers take, unsent, and keeps the connection', async () => {
  const { client, network } = await connected({ requestBytesMax: 1024 });
  // A header of 8 bytes, the path with its length, the data with its length, the version.
  const fits = Buffer.alloc(1024 - 8 - 6 - 4 - 4);
  const tooLarge = client.setData('/a', Buffer.alloc(fits.length + 1));
  expect(await outcome(tooLarge)).toMatchObject({
    code: 'REQUEST_TOO_LARGE',
    sizeBytes: 1025,
    ambiguous: false,
    retryable: false,
  });
  void outcome(client.setData('/a', fits));
  await turn();
  expect(network.last.received.length).toBe(1);
  expect(client.state).toBe('connected');
});

it('sends all requests of a turn in one write', async () => {
  const { client, network } = await connected();
  let writes = 0;
  const { client: link } = network.last;
  const write = link.write.bind(link);
  link.write = (bytes) => {
    writes++;
    write(bytes);
  };
  for (let index = 0; index < 100; index++) void outcome(client.exists(`/${index}`));
  await turn();
  expect(writes).toBe(1);
  expect(network.last.received.length).toBe(100);
});

it('moves to the new servers when its own is not among them, after what is in flight', async () => {
  const scripted = await connected();
  const { client, network, states } = scripted;
  const read = client.getData('/a');
  await turn();
  client.updateServers('a:2181,d');
  await scripted.pass(1_000);
  expect(states).toEqual(['connected']);
  client.updateServers('d');
  const waiting = client.getData('/b');
  await turn();
  network.last.reply({ body: dataBody('x') });
  await read;
  network.last.reply({ error: 0, body: dataBody('') });
  const link = await scripted.nextHandshake();
  expect(link.address.server.host).toBe('d');
  link.answerHandshake({ id: 1, timeoutMs: SESSION_TIMEOUT_MS });
  await turn();
  link.reply({ body: dataBody('y') });
  expect(await outcome(waiting)).toMatchObject({ data: Buffer.from('y') });
  expect(states).toEqual(['connected', 'suspended', 'connected']);
});

it('ends for good when a credential is refused', async () => {
  const { client, network, states, surroundings } = await connected();
  const added = client.addAuth('digest', 'bad');
  const read = client.getData('/a');
  await turn();
  network.last.replyTo(-4, { zxid: 0, error: -115 });
  expect(await outcome(added)).toMatchObject({ name: 'AuthFailedError' });
  expect(await outcome(read)).toMatchObject({ name: 'AuthFailedError' });
  expect(await outcome(client.exists('/a'))).toMatchObject({ name: 'ClientClosedError' });
  expect(states).toEqual(['connected', 'closed']);
  await turn();
  expect([surroundings.timerCount, network.liveCount]).toEqual([0, 0]);
});

it('looks for a member that serves writes while connected to one that does not', async () => {
  const scripted = new ScriptedClient({ readOnly: true, connectString: 'a,b' });
  await scripted.accept(1, { readOnly: true });
  const { client, network, states } = scripted;
  expect(client.readOnly).toBe(true);
  const asked: string[] = [];
  network.onDial = (link) => {
    if (link.address.ip !== 'b') return;
    link.client.write = (bytes) => {
      asked.push(Buffer.from(bytes).toString());
      link.raw(Buffer.from('rw'));
      queueMicrotask(() => link.close());
    };
    link.open();
    network.onDial = null;
  };
  await scripted.pass(5_000);
  expect(asked).toEqual(['isro']);
  expect(states).toEqual(['connected', 'lost', 'connecting']);
  // The session, a question to each, and the next session from the one that said yes.
  expect(network.links.slice(0, 4).map(({ address }) => address.ip)).toEqual(['a', 'a', 'b', 'b']);
});

it('does not take a member without quorum for proof that a session of the ensemble lives', async () => {
  const scripted = new ScriptedClient({ readOnly: true, connectString: 'a,b' });
  await scripted.accept(1);
  const { signal } = await scripted.client.connected();
  scripted.network.last.close();
  await scripted.accept(1, { readOnly: true });
  expect(scripted.client.readOnly).toBe(true);
  // It answers every heartbeat.
  await scripted.pass(SESSION_TIMEOUT_MS);
  expect(signal.aborted).toBe(true);
});

it('asks new servers at once, whatever pause the old ones have come to', async () => {
  const scripted = new ScriptedClient({ connectString: 'a' });
  const { client, network, surroundings } = scripted;
  surroundings.random = () => 0.99;
  for (let round = 0; round < 12; round++) {
    await scripted.pass(5_000);
    network.last.close();
    await turn();
  }
  const before = network.links.length;
  client.updateServers('b');
  await turn();
  expect(network.links.slice(before).map(({ address }) => address.ip)).toEqual(['b']);
});

it('refuses a time that is negative or no number, which else would mean for ever', async () => {
  const { client } = await connected();
  for (const timeoutMs of [-1, Number.NaN]) {
    const refused = { name: 'OptionError', code: 'BAD_OPTION' };
    await expect(client.exists('/a', { timeoutMs })).rejects.toMatchObject(refused);
  }
});

it('refuses options that no operation has, and says which may be meant', async () => {
  const { client } = await connected();
  const ephemeral = { ephemeral: true } as object;
  const refused = "option ephemeral does not exist; is mode: 'ephemeral' meant?";
  await expect(client.create('/a', null, ephemeral)).rejects.toThrow(refused);
  await expect(client.getData('/a', { timeout: 5 } as object)).rejects.toThrow('timeoutMs meant?');
});
