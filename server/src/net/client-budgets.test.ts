/**
 * What all connections of a member may hold together: bytes that came and bytes that wait, however
 * many clients there are, with and without sessions. Who asks for little is served all the while.
 */
import { describe, expect, it } from 'vitest';
import {
  FarEnd,
  frameOf,
  keptLog,
  memberView,
  RecordingHandler,
} from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { MemoryNetwork } from '../simulated/net/memory-transport.js';
import { type ClientConnection, HANDSHAKE_BYTES_MAX } from './client-connection.js';
import { CLIENT_PORT_DEFAULTS, ClientPort, type ClientPortOptions } from './client-port.js';
import { FourLetterWhitelist } from './four-letter/words.js';
import { ServerStats } from './server-stats.js';

const ADDRESS = { host: 'server', port: 2181 };
const HANDSHAKE = 'connect';
const ATTACKERS = 20;

async function bench(changes: Partial<ClientPortOptions> = {}) {
  const timers = new ManualTimers();
  const network = new MemoryNetwork(timers);
  const handler = new RecordingHandler();
  const log = keptLog();
  const port = new ClientPort({
    options: {
      ...CLIENT_PORT_DEFAULTS,
      address: ADDRESS,
      whitelist: new FourLetterWhitelist('*'),
      ...changes,
    },
    transport: network.transport('server'),
    timers,
    logger: log.logger,
    stats: new ServerStats(),
  });
  await port.listen(handler, memberView());
  let session = 1;
  /** `onRequest` gets every frame but the handshake. */
  const serve = (onRequest: (connection: ClientConnection, frame: string) => void): void => {
    handler.onFrameDo = (connection, frame) => {
      const text = Buffer.from(frame).toString('latin1');
      if (text === HANDSHAKE) connection.bindSession({ id: session++, timeoutMs: 4000 });
      else onRequest(connection, text);
    };
  };
  serve((connection) => put(connection, 'answer'));
  const connect = async (): Promise<FarEnd> => {
    const dialled = network.transport('client').dial(ADDRESS, 1000);
    await timers.advance(1);
    return new FarEnd(await dialled);
  };
  /** What is on its way arrives, and a turn ends. */
  const settle = async (): Promise<void> => {
    await timers.advance(2);
    port.flush();
  };
  const join = async (): Promise<FarEnd> => {
    const client = await connect();
    client.stream.write(frameOf(HANDSHAKE));
    await settle();
    return client;
  };
  const told = (event: string) => log.lines.filter((line) => line.msg === event);
  return { timers, port, handler, settle, serve, connect, join, told };
}

function put(connection: ClientConnection, text: string): void {
  const { writer } = connection;
  writer.beginFrame();
  writer.raw(Buffer.from(text, 'latin1'));
  writer.endFrame();
}

/** A frame without its last byte. */
function unfinished(bytes: number): Buffer {
  return frameOf('x'.repeat(bytes)).subarray(0, 4 + bytes - 1);
}

describe('a connection without a session', () => {
  it('may send a frame as long as a handshake can be, and not a byte more', async () => {
    const { timers, handler, connect, told } = await bench();
    const [good, bad] = [await connect(), await connect()];
    good.stream.write(frameOf('x'.repeat(HANDSHAKE_BYTES_MAX)));
    bad.stream.write(frameOf('y'.repeat(HANDSHAKE_BYTES_MAX + 1)).subarray(0, 4));
    await timers.advance(5);
    expect([good.isClosed, bad.isClosed]).toEqual([false, true]);
    expect(handler.events.filter((event) => event.startsWith('frame'))).toHaveLength(1);
    const problem = `a frame of ${HANDSHAKE_BYTES_MAX + 1} bytes, the limit is 512`;
    expect(told('client.bad_handshake')).toMatchObject([{ problem, session: '0x0' }]);
  });

  it('may send requests behind its handshake in the same chunk, as long as they like', async () => {
    const { timers, handler, connect } = await bench();
    const client = await connect();
    client.stream.write(Buffer.concat([frameOf(HANDSHAKE), frameOf('x'.repeat(500_000))]));
    await timers.advance(5);
    expect(client.isClosed).toBe(false);
    expect(handler.events.at(-1)).toHaveLength('frame 1 '.length + 500_000);
  });
});

describe('the budget of input', () => {
  it('closes those who hold most of it, and never who sends whole requests', async () => {
    const inputBytesMax = 100_000;
    const { timers, port, settle, join, told } = await bench({ inputBytesMax });
    const good = await join();
    const attackers: FarEnd[] = [];
    for (let index = 0; index < ATTACKERS; index++) {
      const attacker = await join();
      attacker.stream.write(unfinished(20_000));
      attackers.push(attacker);
      good.stream.write(frameOf('a request'));
      await settle();
      expect(port.input.bytes).toBeLessThanOrEqual(inputBytesMax + 20_004);
    }
    await timers.advance(5);
    expect(good.isClosed).toBe(false);
    expect(good.text.split('answer')).toHaveLength(ATTACKERS + 1);
    const closed = attackers.filter(({ isClosed }) => isClosed).length;
    expect(closed).toBeGreaterThanOrEqual(ATTACKERS - 6);
    const [line] = told('client.input_exceeded');
    expect(line).toMatchObject({ heldBytes: 20_000, inputBytesMax });
    for (const attacker of attackers) attacker.stream.destroy();
    await timers.advance(5);
    expect(port.input.bytes).toBe(0);
  });

  it('counts what waits because the member does not take it in, and gives it back', async () => {
    const { timers, port, settle, serve, join } = await bench({ inputBytesMax: 100_000 });
    const held: ClientConnection[] = [];
    serve((connection) => {
      held.push(connection);
      connection.hold('outstanding');
    });
    const clients: FarEnd[] = [];
    for (let index = 0; index < 10; index++) {
      const client = await join();
      client.stream.write(Buffer.concat([frameOf('one'), frameOf('x'.repeat(30_000))]));
      await settle();
      clients.push(client);
    }
    expect(port.input.bytes).toBeGreaterThan(60_000);
    expect(port.input.bytes).toBeLessThanOrEqual(130_004);
    expect(clients.filter(({ isClosed }) => isClosed).length).toBeGreaterThanOrEqual(6);
    serve(() => {});
    for (const connection of held) if (connection.isOpen) connection.release('outstanding');
    await timers.advance(5);
    expect(port.input.bytes).toBe(0);
  });

  it('counts what is kept of requests that have begun, until they are done', async () => {
    const { port, settle, serve, join } = await bench({ inputBytesMax: 100_000 });
    serve((connection) => connection.keep(40_000));
    const clients: FarEnd[] = [];
    for (let index = 0; index < 5; index++) {
      const client = await join();
      client.stream.write(frameOf('begin'));
      await settle();
      clients.push(client);
    }
    expect(clients.map(({ isClosed }) => isClosed).filter(Boolean).length).toBeGreaterThan(0);
    expect(port.input.bytes).toBeLessThanOrEqual(140_000);
    serve((connection) => connection.keep(0));
    for (const client of clients) if (!client.isClosed) client.stream.write(frameOf('end'));
    await settle();
    expect(port.input.bytes).toBe(0);
  });

  it('is not used up by many small pieces of frames that hold more than they bring', async () => {
    const inputBytesMax = 200_000;
    const { port, settle, join } = await bench({ inputBytesMax });
    const clients: FarEnd[] = [];
    for (let index = 0; index < 40; index++) {
      const client = await join();
      client.stream.write(unfinished(100_000).subarray(0, 5));
      client.stream.write(Buffer.alloc(1));
      await settle();
      clients.push(client);
    }
    // Each holds 8 KB for its few bytes.
    expect(port.input.bytes).toBeGreaterThan(inputBytesMax / 2);
    expect(clients.filter(({ isClosed }) => isClosed).length).toBeGreaterThan(10);
  });
});

describe('the budget of output', () => {
  it('closes those who owe most when clients do not read, and nobody who reads', async () => {
    const outputBytesMax = 4 << 20;
    const { timers, port, settle, serve, join, told } = await bench({ outputBytesMax });
    serve((connection, text) => put(connection, 'x'.repeat(Number(text))));
    const good = await join();
    const debtors: FarEnd[] = [];
    for (let index = 0; index < ATTACKERS; index++) {
      const debtor = await join();
      debtor.stream.pause();
      debtor.stream.write(frameOf('500000'));
      good.stream.write(frameOf('100'));
      await settle();
      expect(port.output.bytes).toBeLessThanOrEqual(outputBytesMax + 500_000);
      debtors.push(debtor);
    }
    await timers.advance(10);
    expect(good.text).toHaveLength(ATTACKERS * 104);
    expect(good.isClosed).toBe(false);
    for (const debtor of debtors) debtor.stream.resume();
    await timers.advance(10);
    expect(debtors.filter(({ isClosed }) => isClosed).length).toBeGreaterThanOrEqual(ATTACKERS / 2);
    expect(told('client.output_exceeded')[0]).toMatchObject({ outputBytesMax });
    expect(port.output.bytes).toBe(0);
  });

  it('gives one client an answer of any size', async () => {
    const { timers, port, settle, serve, join, told } = await bench({ outputBytesMax: 1 << 20 });
    serve((connection, text) => put(connection, 'x'.repeat(Number(text))));
    const others = [await join(), await join()];
    for (const other of others) other.stream.pause();
    for (const other of others) other.stream.write(frameOf('300000'));
    await settle();
    const client = await join();
    client.stream.pause();
    client.stream.write(frameOf('5000000'));
    await settle();
    expect(port.output.bytes).toBeGreaterThan(5_000_000);
    client.stream.resume();
    for (let flush = 0; flush < 4; flush++) port.flush();
    await timers.advance(50);
    expect(client.text).toHaveLength(5_000_004);
    expect(told('client.output_exceeded')).toEqual([]);
  });
});

describe('output that is withheld', () => {
  it('is bounded as in one turn, however many answers a client asks for', async () => {
    const { port, timers, settle, serve, join } = await bench();
    serve((connection, text) => put(connection, 'x'.repeat(Number(text))));
    const clients = [await join(), await join(), await join()];
    port.withhold();
    for (const client of clients) {
      client.stream.write(Buffer.concat(Array.from({ length: 200 }, () => frameOf('300000'))));
    }
    for (let turn = 0; turn < 50; turn++) await settle();
    const waiting = [...port.connections()].reduce((sum, one) => sum + one.outputBytes, 0);
    const { outputBytesMax } = CLIENT_PORT_DEFAULTS.share;
    expect(waiting).toBeLessThanOrEqual(outputBytesMax + 300_004);
    expect(clients.map(({ text }) => text)).toEqual(['', '', '']);
    port.letGo({ isDropped: false });
    for (let turn = 0; turn < 400; turn++) await settle();
    await timers.advance(50);
    for (const { text } of clients) expect(text).toHaveLength(200 * 300_004);
    expect(port.output.bytes).toBe(0);
  });

  it('meets the bound of one client, with events and answers that it asked for before', async () => {
    const outputHardBytes = 1_000_000;
    const { timers, port, settle, serve, join, told } = await bench({ outputHardBytes });
    const opened: ClientConnection[] = [];
    serve((connection) => opened.push(connection));
    const clients = [await join(), await join(), await join()];
    for (const client of clients) client.stream.write(frameOf('watch'));
    await settle();
    const [one, other, small] = opened;
    if (one === undefined || other === undefined || small === undefined) throw new Error('three');
    port.withhold();
    // A single answer may have any size, and as much again may wait beside it.
    put(other, 'x'.repeat(5_000_000));
    put(small, 'event');
    for (let bytes = 0; bytes <= 5_000_000; bytes += 100_000) {
      put(one, 'x'.repeat(100_000));
      if (bytes < outputHardBytes - 100_000) put(other, 'x'.repeat(100_000));
      await settle();
      expect(one.outputBytes).toBeLessThanOrEqual(outputHardBytes + 200_008);
    }
    expect(opened.map(({ isOpen }) => isOpen)).toEqual([false, true, true]);
    expect(told('client.output_overflow')).toMatchObject([{ isWithheld: true, outputHardBytes }]);
    port.letGo({ isDropped: false });
    for (let turn = 0; turn < 20; turn++) await settle();
    await timers.advance(50);
    expect(clients.map(({ text }) => text.length)).toEqual([0, 5_900_040, 9]);
    expect(port.output.bytes).toBe(0);
  });

  it('meets the bound of all clients, what ended connections left included', async () => {
    const outputBytesMax = 4 << 20;
    const { timers, port, settle, serve, join, told } = await bench({ outputBytesMax });
    const opened: ClientConnection[] = [];
    serve((connection) => opened.push(connection));
    const clients: FarEnd[] = [];
    for (let index = 0; index < ATTACKERS; index++) clients.push(await join());
    for (const client of clients) client.stream.write(frameOf('watch'));
    await settle();
    port.withhold();
    for (const [index, connection] of opened.entries()) {
      put(connection, 'x'.repeat(500_000));
      await settle();
      if (index < 3) connection.end();
      await settle();
      expect(port.output.bytes).toBeLessThanOrEqual(outputBytesMax + 500_004);
    }
    expect(told('client.output_exceeded')[0]).toMatchObject({ outputBytesMax });
    port.letGo({ isDropped: true });
    for (let turn = 0; turn < 20; turn++) await settle();
    await timers.advance(50);
    expect(port.output.bytes).toBe(0);
  });
});

it('unfinished frames of a hundred clients all come in, and a small request is answered meanwhile', async () => {
  const { timers, port, settle, join } = await bench();
  const good = await join();
  const attackers: FarEnd[] = [];
  for (let index = 0; index < 100; index++) attackers.push(await join());
  // Each has one more chunk on its way than the one that shows what it is.
  for (const attacker of attackers) attacker.stream.write(unfinished(900_000).subarray(0, 65_536));
  for (const attacker of attackers) attacker.stream.write(Buffer.alloc(65_536));
  await timers.advance(1);
  good.stream.write(frameOf('a request'));
  await settle();
  await settle();
  expect(good.text).toContain('answer');
  for (let round = 0; round < 10; round++) await settle();
  expect(port.input.bytes).toBe(100 * 2 * 65_536);
});
