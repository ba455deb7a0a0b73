/**
 * Memory for output; and a connection that is held for room in its output: told in a later turn,
 * once, when the client has taken enough.
 */
import { expect, it } from 'vitest';
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

const ADDRESS = { host: 'server', port: 2181 };

async function heldForRoom(bytes: number) {
  const timers = new ManualTimers();
  const network = new MemoryNetwork(timers);
  const handler = new RecordingHandler();
  const port = new ClientPort({
    options: {
      ...CLIENT_PORT_DEFAULTS,
      outputSoftBytes: 100_000,
      address: ADDRESS,
      whitelist: new FourLetterWhitelist('*'),
    },
    transport: network.transport('server'),
    timers,
    logger: keptLog().logger,
    stats: new ServerStats(),
  });
  await port.listen(handler, memberView());
  const dialled = network.transport('client').dial(ADDRESS, 1000);
  await timers.advance(1);
  const client = new FarEnd(await dialled);
  client.stream.pause();
  client.stream.write(Buffer.concat([frameOf('write'), frameOf('next')]));
  handler.onFrameDo = (connection) => {
    connection.writer.raw(Buffer.alloc(bytes));
    connection.hold('room');
  };
  await timers.advance(5);
  const [connection] = handler.connections;
  if (connection === undefined) throw new Error('no connection');
  return { timers, port, handler, client, connection };
}

it('is told when the client has taken its output, and gets its next frame when it is released', async () => {
  const { timers, port, handler, client, connection } = await heldForRoom(500_000);
  expect(connection.isFullFor(0)).toBe(true);
  port.flush();
  await timers.advance(100);
  expect(handler.events.at(-1)).toBe('frame 1 write');
  client.stream.resume();
  await timers.advance(100);
  expect(handler.events.slice(-2)).toEqual(['frame 1 write', 'room 1']);
  expect(connection.isFullFor(0)).toBe(false);
  connection.release('room');
  await timers.advance(5);
  expect(handler.events.at(-1)).toBe('frame 1 next');
});

it('is told after the flush when the kernel takes it all, never from inside', async () => {
  const { timers, port, handler } = await heldForRoom(110_000);
  port.flush();
  port.flush();
  expect(handler.events.at(-1)).toBe('frame 1 write');
  await timers.advance(5);
  expect(handler.events.filter((event) => event === 'room 1')).toHaveLength(1);
});

it('is told nothing once it has ended', async () => {
  const { timers, port, handler, client, connection } = await heldForRoom(500_000);
  port.flush();
  connection.end();
  client.stream.resume();
  await timers.advance(100);
  expect(handler.events).not.toContain('room 1');
});

it('holds no memory for output once the kernel has taken it all, and none that others use before', async () => {
  const { timers, port, client, connection } = await heldForRoom(100);
  const slab = port.slabs.take(1);
  port.slabs.give(slab);
  port.flush();
  expect(port.slabs.idle).toBe(2);
  connection.writer.raw(Buffer.alloc(110_000));
  connection.writer.raw(Buffer.alloc(10));
  port.flush();
  connection.writer.int(1);
  port.flush();
  // The client does not read: what waits for it lies in a slab that nobody else writes to.
  expect(port.slabs.idle).toBe(1);
  client.stream.destroy();
  await timers.advance(5);
  expect(port.slabs.idle).toBe(2);
});
