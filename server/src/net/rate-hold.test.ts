/**
 * A connection that is held because its client sends too many requests: whether the client is still
 * there is noticed all the while, and nothing that it has sent is lost.
 */
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import {
  FarEnd,
  frameOf,
  keptLog,
  memberView,
  RecordingHandler,
} from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { MemoryNetwork } from '../simulated/net/memory-transport.js';
import { CLIENT_PORT_DEFAULTS, ClientPort } from './client-port.js';
import { FourLetterWhitelist } from './four-letter/words.js';
import { ServerStats } from './server-stats.js';
import { TcpTransport } from './tcp.js';
import { systemTimers, type Timers } from './timers.js';
import type { Transport } from './transport.js';

const HOST = 'server';
const PORT = 2181;

/** A port that holds every connection after each frame, as if its client sent too many. */
async function portOf(transport: Transport, timers: Timers, address = { host: HOST, port: PORT }) {
  const handler = new RecordingHandler();
  handler.onFrameDo = (connection) => {
    connection.bindSession({ id: 1, timeoutMs: 4_000 });
    connection.hold('rate');
  };
  const port = new ClientPort({
    options: { ...CLIENT_PORT_DEFAULTS, address, whitelist: new FourLetterWhitelist('*') },
    transport,
    timers,
    logger: keptLog().logger,
    stats: new ServerStats(),
  });
  await port.listen(handler, memberView());
  return { port, handler };
}

async function heldClient() {
  const timers = new ManualTimers();
  const network = new MemoryNetwork(timers);
  const { port, handler } = await portOf(network.transport(HOST), timers);
  const dialled = network.transport('client').dial({ host: HOST, port: PORT }, 1_000);
  await timers.advance(1);
  const client = new FarEnd(await dialled);
  /** What is on its way arrives, and a turn ends. */
  const settle = async () => {
    await timers.advance(2);
    port.flush();
  };
  const send = async (...texts: readonly string[]) => {
    client.stream.write(Buffer.concat(texts.map((text) => frameOf(text))));
    await settle();
  };
  await send('connect');
  const [connection] = handler.connections;
  if (connection === undefined) throw new Error('the port has a connection');
  const release = async () => {
    connection.release('rate');
    await settle();
  };
  const frames = () => handler.events.filter((event) => event.startsWith('frame')).length;
  return { timers, client, connection, send, release, frames };
}

it('is heard from whenever bytes come, and not because a request is taken that came before', async () => {
  const { connection, send, release, frames } = await heldClient();
  expect(connection.takeHeard()).toBe(true);
  expect(connection.takeHeard()).toBe(false);
  await send('a', 'b', 'c');
  expect(frames()).toBe(1);
  expect([connection.takeHeard(), connection.takeHeard()]).toEqual([true, false]);
  await release();
  await release();
  expect(frames()).toBe(3);
  expect(connection.takeHeard()).toBe(false);
  await send('ping');
  expect(connection.takeHeard()).toBe(true);
});

it('is read ahead up to a bound, and counts as heard from while it is not read', async () => {
  const { connection, send, release, frames } = await heldClient();
  for (let count = 0; count < 100; count++) await send('x'.repeat(1_000));
  expect(connection.inputBytes).toBeGreaterThan(16_000);
  expect(connection.inputBytes).toBeLessThan(32_000);
  expect([connection.takeHeard(), connection.takeHeard()]).toEqual([true, true]);
  for (let count = 0; count < 100; count++) await release();
  expect([frames(), connection.inputBytes]).toEqual([101, 0]);
});

it('is ended once all is taken that its client sent before it ended its side', async () => {
  const { timers, client, connection, send, release, frames } = await heldClient();
  await send('a', 'b');
  client.stream.end();
  await timers.advance(2);
  connection.takeHeard();
  expect([frames(), connection.isOpen]).toEqual([1, true]);
  await release();
  expect(connection.takeHeard()).toBe(false);
  await release();
  expect([frames(), connection.isOpen]).toEqual([3, true]);
  await release();
  expect(connection.isOpen).toBe(false);
});

it('is ended at once if its client ends its side and nothing of it waits', async () => {
  const { timers, client, connection } = await heldClient();
  client.stream.end();
  await timers.advance(2);
  expect(connection.isOpen).toBe(false);
});

it('is gone when its client is, over TCP', async () => {
  const transport = new TcpTransport(keptLog().logger);
  const { port, handler } = await portOf(transport, systemTimers(), { host: '127.0.0.1', port: 0 });
  onTestFinished(() => port.close());
  const socket = connect({ host: '127.0.0.1', port: port.port });
  socket.write(frameOf('connect'));
  await expect.poll(() => handler.events).toContain('frame 1 connect');
  socket.resetAndDestroy();
  await expect.poll(() => handler.events).toContain('closed 1');
});
