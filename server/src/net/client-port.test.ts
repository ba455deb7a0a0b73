/**
 * The client port over the network in memory: words, frames in order, backpressure both ways,
 * and how connections end.
 */
import { describe, expect, it } from 'vitest';
import {
  dialled,
  type FarEnd,
  frameOf,
  keptLog,
  memberView,
  RecordingHandler,
} from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { MemoryNetwork } from '../simulated/net/memory-transport.js';
import type { ClientConnection } from './client-connection.js';
import { CLIENT_PORT_DEFAULTS, ClientPort, type ClientPortOptions } from './client-port.js';
import { FourLetterWhitelist } from './four-letter/words.js';
import { ListenError } from './listen-error.js';
import { ServerStats } from './server-stats.js';

const ADDRESS = { host: 'server', port: 2181 };

interface Bench {
  readonly timers: ManualTimers;
  readonly network: MemoryNetwork;
  readonly port: ClientPort;
  readonly handler: RecordingHandler;
  readonly stats: ServerStats;
  readonly log: ReturnType<typeof keptLog>;
  connect(host?: string): Promise<FarEnd>;
}

async function bench(changes: Partial<ClientPortOptions> = {}): Promise<Bench> {
  const timers = new ManualTimers();
  const network = new MemoryNetwork(timers);
  const handler = new RecordingHandler();
  const log = keptLog();
  const stats = new ServerStats();
  const whitelist = new FourLetterWhitelist('*');
  const port = new ClientPort({
    options: { ...CLIENT_PORT_DEFAULTS, address: ADDRESS, whitelist, ...changes },
    transport: network.transport('server'),
    timers,
    logger: log.logger,
    stats,
  });
  await port.listen(handler, memberView());
  const connect = (from = 'client') => dialled(network, timers, { to: ADDRESS, from });
  return { timers, network, port, handler, stats, log, connect };
}

/** Writes `text` as a frame. */
function put(connection: ClientConnection, text: string): void {
  const { writer } = connection;
  writer.beginFrame();
  writer.raw(Buffer.from(text, 'latin1'));
  writer.endFrame();
}

describe('the client port', () => {
  it('answers a word in one chunk and then ends, whatever else came with it', async () => {
    const { timers, handler, connect } = await bench();
    const client = await connect();
    client.stream.write(Buffer.from('ruok\nand more'));
    await timers.advance(5);
    client.stream.write(Buffer.from('still more'));
    await timers.advance(5);
    expect(client.chunks.map(String)).toEqual(['imok']);
    expect(client.hasEnded).toBe(true);
    expect(handler.events).toEqual([]);
  });

  it('answers a client that sent its word byte by byte and half closed', async () => {
    const { timers, connect } = await bench();
    const client = await connect();
    for (const letter of 'stat') client.stream.write(Buffer.from(letter));
    client.stream.end();
    await timers.advance(5);
    expect(client.chunks.length).toBe(1);
    expect(client.text).toMatch(/\nConnections: 1\n/);
    expect(client.isClosed).toBe(true);
  });

  it('drops a client that never takes the end of its answer, after the linger', async () => {
    const { timers, connect } = await bench();
    const client = await connect();
    client.stream.write(Buffer.from('ruok'));
    await timers.advance(1_500);
    expect(client.isClosed).toBe(false);
    await timers.advance(1_000);
    expect(client.isClosed).toBe(true);
  });

  it('refuses one connection too many of an address with one log line, and not of another', async () => {
    const { timers, handler, log, connect } = await bench({ connectionsPerAddressMax: 2 });
    const clients = [await connect(), await connect(), await connect(), await connect('other')];
    for (const client of clients) client.stream.write(frameOf('x'));
    await timers.advance(5);
    expect(clients.map((client) => client.isClosed)).toEqual([false, false, true, false]);
    expect(log.lines.filter((line) => line.msg === 'client.refused').length).toBe(1);
    clients[0]?.stream.destroy();
    await timers.advance(5);
    const late = await connect();
    late.stream.write(frameOf('late'));
    await timers.advance(5);
    expect(handler.events.at(-1)).toMatch(/late$/);
  });

  it('answers words, and lets other addresses in, while one address has all it can get', async () => {
    const { timers, port, handler, log, connect } = await bench({ streamsMax: 64 });
    const greedy: FarEnd[] = [];
    for (let count = 0; count < 57; count++) {
      const client = await connect('greedy');
      greedy.push(client);
      client.stream.write(frameOf('x'));
      await timers.advance(5);
      for (const one of port.connections()) one.bindSession({ id: 7, timeoutMs: 4000 });
      port.flush();
    }
    expect(greedy.map((client) => client.isClosed)).toEqual([...Array(56).fill(false), true]);
    const refused = log.lines.filter((line) => line.msg === 'client.refused');
    expect(refused[0]).toMatchObject({ remote: 'greedy', streamsMax: 64 });
    const idle = await Promise.all(Array.from({ length: 30 }, () => connect('greedy')));
    const [first, word] = [await connect('first'), await connect('greedy')];
    first.stream.write(frameOf('first'));
    word.stream.write(Buffer.from('ruok'));
    await timers.advance(5);
    expect([first.isClosed, word.text]).toEqual([false, 'imok']);
    expect(handler.events.at(-1)).toMatch(/first$/);
    expect(idle.filter((client) => client.isClosed).length).toBeGreaterThan(20);
  });

  it('refuses connections that come too fast, but answers four-letter words', async () => {
    const connectionTokens = { max: 1, perSecond: 1 };
    const { timers, stats, connect } = await bench({ connectionTokens });
    const clients = [await connect(), await connect(), await connect()];
    for (const client of clients.slice(0, 2)) client.stream.write(frameOf('x'));
    clients[2]?.stream.write(Buffer.from('ruok'));
    await timers.advance(5);
    expect(clients.map((client) => client.isClosed)).toEqual([false, true, false]);
    expect([clients[2]?.text, stats.connectionsRejected]).toEqual(['imok', 1]);
  });

  it('waits for the mask of stmk', async () => {
    const { timers, stats, connect } = await bench();
    const client = await connect();
    client.stream.write(Buffer.from('stmk\0\0\0\0'));
    await timers.advance(5);
    expect(client.text).toBe('');
    client.stream.write(Buffer.from([0, 0, 1, 2]));
    await timers.advance(5);
    expect([client.text, stats.traceMask]).toEqual(['258', 258n]);
  });

  it('closes a connection that has no session in time, and none that has', async () => {
    const { timers, handler, log, connect } = await bench();
    handler.onFrameDo = (connection) => connection.bindSession({ id: 7, timeoutMs: 4000 });
    const silent = await connect();
    const halfway = await connect();
    halfway.stream.write(Buffer.from([0, 0]));
    const bound = await connect();
    bound.stream.write(frameOf('connect'));
    await timers.advance(9_000);
    expect([silent.isClosed, halfway.isClosed]).toEqual([false, false]);
    await timers.advance(4_000);
    expect([silent, halfway, bound].map((far) => far.isClosed)).toEqual([true, true, false]);
    expect(log.lines.filter((line) => line.msg === 'client.sessionless_expired').length).toBe(2);
  });

  it('tells where logins are offered of a client that takes a session and says no more', async () => {
    const left = async (offersLogins: boolean, frames: readonly string[]) => {
      const { timers, handler, log, connect } = await bench({ offersLogins });
      handler.onFrameDo = (connection) => connection.bindSession({ id: 7, timeoutMs: 4000 });
      const client = await connect();
      for (const frame of frames) client.stream.write(frameOf(frame));
      client.stream.end();
      await timers.advance(5);
      const lines = log.lines.filter(({ msg }) => msg === 'client.left_without_login');
      return lines.map(({ remote, session, problem }) => ({ remote, session, problem }));
    };
    expect(await left(true, ['connect'])).toEqual([
      {
        remote: expect.stringContaining('client'),
        session: '0x7',
        problem: expect.stringContaining('-Dzookeeper.fips-mode=false'),
      },
    ]);
    expect(await left(true, ['connect', 'a login'])).toEqual([]);
    expect(await left(true, [])).toEqual([]);
    expect(await left(false, ['connect'])).toEqual([]);
  });

  it('says what came where it is known: TLS, HTTP, or what belongs to another port', async () => {
    const { timers, handler, log, connect } = await bench();
    for (const bytes of ['160301012401', '474554202f20', 'ffffffffffff0000', '0000002592cc']) {
      const client = await connect();
      client.stream.write(Buffer.from(bytes, 'hex'));
      await timers.advance(1_000);
      expect(client.isClosed).toBe(true);
    }
    const told = log.lines.filter(({ msg }) => msg === 'client.bad_handshake');
    expect(told).toHaveLength(4);
    for (const { problem } of told) expect(problem).toMatch(/^what came is /);
    expect(handler.events.filter((event) => event.startsWith('frame'))).toEqual([]);
  });

  it('closes on an oversized, a negative and a garbage length, and tells of the storm in two lines', async () => {
    const { timers, handler, log, connect } = await bench();
    const lengths = ['\x00\x10\x00\x00', '\xff\xff\xff\xff', 'GET '];
    for (const length of lengths) {
      const client = await connect();
      client.stream.write(Buffer.from(length, 'latin1'));
      await timers.advance(5);
      expect(client.isClosed).toBe(true);
      expect(client.text).toBe('');
    }
    await timers.advance(1_000);
    const told = log.lines.slice(1).map(({ msg, leftOut }) => [msg, leftOut]);
    expect(told.join(' ')).toBe('client.bad_handshake, client.bad_handshake,1');
    expect(handler.events.filter((event) => event.startsWith('frame'))).toEqual([]);
  });

  it('names the port and what to do when it is taken', async () => {
    const { timers, network, log } = await bench();
    const second = new ClientPort({
      options: {
        ...CLIENT_PORT_DEFAULTS,
        address: ADDRESS,
        whitelist: new FourLetterWhitelist('*'),
      },
      transport: network.transport('server'),
      timers,
      logger: log.logger,
      stats: new ServerStats(),
    });
    const error = await second
      .listen(new RecordingHandler(), memberView())
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ListenError);
    expect(error).toMatchObject({ code: 'EADDRINUSE', port: 2181 });
    expect(String(error)).toMatch(/client port 2181 on server: it is in use .* clientPort/);
  });
});

describe('a client connection', () => {
  it('delivers frames in order across chunk boundaries', async () => {
    const { timers, handler, stats, connect } = await bench();
    const client = await connect();
    const bytes = Buffer.concat([frameOf('one'), frameOf(''), frameOf('three')]);
    for (const byte of bytes) client.stream.write(Buffer.from([byte]));
    await timers.advance(5);
    expect(handler.events).toEqual(['open 1', 'frame 1 one', 'frame 1 ', 'frame 1 three']);
    expect([stats.packetsReceived, stats.bytesReceived]).toEqual([3, bytes.length]);
  });

  it('puts all output of a turn into one write', async () => {
    const { timers, port, handler, connect } = await bench();
    handler.onFrameDo = (connection) => put(connection, 'reply');
    const client = await connect();
    client.stream.write(Buffer.concat([frameOf('a'), frameOf('b')]));
    await timers.advance(5);
    expect(client.chunks).toEqual([]);
    port.flush();
    await timers.advance(5);
    expect(client.chunks.length).toBe(1);
    expect(client.text).toBe(frameOf('reply').toString('latin1').repeat(2));
    port.flush();
    await timers.advance(5);
    expect(client.chunks.length).toBe(1);
  });

  it('delivers nothing while it is held, and in a later turn what came meanwhile', async () => {
    const { timers, handler, connect } = await bench();
    handler.onFrameDo = (connection) => connection.hold('handshake');
    const client = await connect();
    client.stream.write(Buffer.concat([frameOf('connect'), frameOf('next')]));
    await timers.advance(5);
    client.stream.write(frameOf('later'));
    await timers.advance(5);
    expect(handler.events).toEqual(['open 1', 'frame 1 connect']);
    handler.onFrameDo = () => {};
    handler.connections[0]?.release('handshake');
    expect(handler.events.length).toBe(2);
    await timers.advance(5);
    expect(handler.events.slice(2)).toEqual(['frame 1 next', 'frame 1 later']);
  });

  it('stays held until every reason is released', async () => {
    const { timers, handler, connect } = await bench();
    handler.onFrameDo = (connection) => {
      connection.hold('handshake');
      connection.hold('outstanding');
    };
    const client = await connect();
    client.stream.write(Buffer.concat([frameOf('connect'), frameOf('next')]));
    await timers.advance(5);
    handler.connections[0]?.release('handshake');
    await timers.advance(5);
    expect(handler.events.length).toBe(2);
    handler.connections[0]?.release('outstanding');
    await timers.advance(5);
    expect(handler.events.at(-1)).toBe('frame 1 next');
  });

  it('stops reading a client that does not read, and goes on when it does', async () => {
    const { timers, port, handler, connect } = await bench({ outputSoftBytes: 100_000 });
    handler.onFrameDo = (connection) => put(connection, 'y'.repeat(40_000));
    const client = await connect();
    client.stream.pause();
    const requests = 20;
    for (let index = 0; index < requests; index++) client.stream.write(frameOf('get'));
    for (let turn = 0; turn < 30; turn++) {
      await timers.advance(5);
      port.flush();
    }
    const served = handler.events.length - 1;
    expect(served).toBeLessThan(8);
    expect(handler.connections[0]?.outputBytes).toBeLessThan(200_000);
    client.stream.resume();
    for (let turn = 0; turn < 60; turn++) {
      await timers.advance(5);
      port.flush();
    }
    expect(handler.events.length - 1).toBe(requests);
    expect(client.text.length).toBe(requests * 40_004);
  });

  it('is not read while events wait that the client does not take', async () => {
    const { timers, port, handler, connect } = await bench({ outputSoftBytes: 100_000 });
    const client = await connect();
    client.stream.write(frameOf('watch'));
    client.stream.pause();
    await timers.advance(5);
    const [connection] = handler.connections;
    if (connection === undefined) throw new Error('no connection');
    put(connection, 'e'.repeat(200_000));
    port.flush();
    client.stream.write(frameOf('next'));
    await timers.advance(5);
    expect(handler.events.at(-1)).toBe('frame 1 watch');
    expect(connection.interestOps).toBe(4);
    client.stream.resume();
    await timers.advance(10);
    expect(handler.events.at(-1)).toBe('frame 1 next');
    expect(connection.interestOps).toBe(1);
  });

  it('bounds the output of one burst of requests even before the flush', async () => {
    const { timers, handler, connect } = await bench({ outputSoftBytes: 10_000 });
    handler.onFrameDo = (connection) => put(connection, 'z'.repeat(9_000));
    const client = await connect();
    client.stream.write(Buffer.concat(Array.from({ length: 50 }, () => frameOf('get'))));
    await timers.advance(5);
    expect(handler.connections[0]?.outputBytes).toBe(2 * 9_004);
  });

  it('is dropped with one log line above the hard limit', async () => {
    const { timers, port, handler, log, connect } = await bench({ outputHardBytes: 1 << 21 });
    const client = await connect();
    client.stream.write(frameOf('watch'));
    client.stream.pause();
    await timers.advance(5);
    const [connection] = handler.connections;
    for (let turn = 0; turn < 40; turn++) {
      if (connection?.isOpen === true) put(connection, 'e'.repeat(100_000));
      port.flush();
      await timers.advance(5);
    }
    expect(connection?.isOpen).toBe(false);
    expect(log.lines.filter((line) => line.msg === 'client.output_overflow').length).toBe(1);
    expect(handler.events.filter((event) => event === 'closed 1').length).toBe(1);
  });

  it('gets one answer of any size, however long it takes to read it', async () => {
    const { timers, port, handler, connect } = await bench({ outputHardBytes: 1 << 21 });
    const client = await connect();
    client.stream.write(frameOf('list'));
    client.stream.pause();
    await timers.advance(5);
    const [connection] = handler.connections;
    if (connection !== undefined) put(connection, 'c'.repeat(10_000_000));
    port.flush();
    await timers.advance(5);
    if (connection !== undefined) put(connection, 'an event meanwhile');
    port.flush();
    client.stream.resume();
    await timers.advance(50);
    expect(connection?.isOpen).toBe(true);
    expect(client.text.length).toBeGreaterThan(10_000_000);
  });

  it('sends what was written before end(), nothing after, and then end of stream', async () => {
    const { timers, port, handler, connect } = await bench();
    handler.onFrameDo = (connection) => {
      put(connection, 'expired');
      connection.end();
      put(connection, 'too late');
    };
    const client = await connect();
    client.stream.write(Buffer.concat([frameOf('connect'), frameOf('ignored')]));
    await timers.advance(5);
    port.flush();
    await timers.advance(5);
    expect(client.text).toBe(frameOf('expired').toString('latin1'));
    expect([client.hasEnded, client.isClosed]).toEqual([true, false]);
    expect(handler.events).toEqual(['open 1', 'frame 1 connect']);
    client.stream.end();
    await timers.advance(5);
    expect(handler.events.at(-1)).toBe('closed 1');
  });

  it('is destroyed when an ended client does not close', async () => {
    const { timers, handler, connect } = await bench();
    handler.onFrameDo = (connection) => connection.end();
    const client = await connect();
    client.stream.write(frameOf('bye'));
    await timers.advance(1_900);
    expect(client.isClosed).toBe(false);
    await timers.advance(200);
    expect(client.isClosed).toBe(true);
    expect(handler.events.at(-1)).toBe('closed 1');
  });

  it('hears no frame after close(), and its end exactly once', async () => {
    const { timers, handler, connect } = await bench();
    handler.onFrameDo = (connection) => {
      connection.close('zxid of the future');
      connection.close('again');
    };
    const client = await connect();
    client.stream.write(Buffer.concat([frameOf('a'), frameOf('b')]));
    await timers.advance(5);
    expect(handler.events).toEqual(['open 1', 'frame 1 a', 'closed 1']);
    expect(client.text).toBe('');
  });

  it('gives replies that are ready to a client that has half closed', async () => {
    const { timers, handler, connect } = await bench();
    handler.onFrameDo = (connection) => put(connection, 'pong');
    const client = await connect();
    client.stream.write(frameOf('ping'));
    client.stream.end();
    await timers.advance(10);
    expect(client.text).toBe(frameOf('pong').toString('latin1'));
    expect(handler.events.at(-1)).toBe('closed 1');
  });

  it('is ended with all others when the port closes, and nobody gets in after', async () => {
    const { timers, port, handler, connect } = await bench();
    const client = await connect();
    client.stream.write(frameOf('x'));
    await timers.advance(5);
    await port.close();
    await timers.advance(5);
    expect(client.hasEnded).toBe(true);
    client.stream.end();
    await timers.advance(5);
    expect(handler.events.at(-1)).toBe('closed 1');
    expect(port.connectionCount).toBe(0);
  });
});
