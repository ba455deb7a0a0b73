/**
 * The transport on real sockets of the loopback: what the network in memory can only imitate.
 */
import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { keptLog, memberView, RecordingHandler } from '../simulated/net/fixtures.js';
import { type WatchedStream, watchedStream } from '../simulated/net/watched-stream.js';
import { CLIENT_PORT_DEFAULTS, ClientPort } from './client-port.js';
import { FourLetterWhitelist } from './four-letter/words.js';
import { ListenError } from './listen-error.js';
import { PeerNames } from './peer-names.js';
import { ServerStats } from './server-stats.js';
import { TcpTransport } from './tcp.js';
import { systemTimers } from './timers.js';
import type { ByteStream } from './transport.js';

const LOCAL = '127.0.0.1';
const closers: (() => unknown)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0)) await close();
});

function watched(stream: ByteStream): WatchedStream {
  closers.push(() => stream.destroy());
  return watchedStream(stream);
}

async function connected(host = LOCAL) {
  const { logger, lines } = keptLog();
  const transport = new TcpTransport(logger);
  let onAccepted = (_stream: ByteStream): void => {};
  const accepted = new Promise<ByteStream>((resolve) => {
    onAccepted = resolve;
  });
  const onStream = (stream: ByteStream): void => onAccepted(stream);
  const listener = await transport.listen({ host, port: 0 }, onStream);
  closers.push(() => listener.close());
  const near = watched(await transport.dial({ host: LOCAL, port: listener.port }, 5000));
  return { transport, listener, lines, near, far: watched(await accepted) };
}

describe('the TCP transport', () => {
  it('carries bytes both ways and lets a half closed stream be written', async () => {
    const { near, far } = await connected();
    near.stream.write(Buffer.from('stat'));
    near.stream.end();
    await far.ended;
    far.stream.write(Buffer.from('answer'));
    far.stream.end();
    expect(await near.closed).toBeUndefined();
    expect([far.text(), near.text()]).toEqual(['stat', 'answer']);
  });

  it('lends chunks of one piece of memory, and no byte is lost while some do not read', async () => {
    const { logger } = keptLog();
    const transport = new TcpTransport(logger);
    const memories = new Set<ArrayBufferLike>();
    const sums: Promise<number>[] = [];
    const onStream = (stream: ByteStream): void => {
      let sum = 0;
      const ended = new Promise<number>((resolve) => {
        stream.handle({
          onData: (chunk) => {
            memories.add(chunk.buffer);
            for (const byte of chunk) sum += byte;
            stream.pause();
            setImmediate(() => stream.resume());
          },
          onEnd: () => {
            stream.write(Buffer.from('answer'));
            stream.end();
            resolve(sum);
          },
          onDrain: () => {},
          onClose: () => {},
        });
      });
      sums.push(ended);
    };
    const listener = await transport.listen({ host: LOCAL, port: 0 }, onStream, {
      chunks: 'lent',
    });
    closers.push(() => listener.close());
    for (const byte of [1, 2]) {
      const near = watched(await transport.dial({ host: LOCAL, port: listener.port }, 5000));
      near.stream.write(Buffer.alloc(1 << 20, byte));
      near.stream.end();
      expect(await near.closed).toBeUndefined();
      expect(near.text()).toBe('answer');
    }
    expect(await Promise.all(sums)).toEqual([1 << 20, 2 << 20]);
    expect(memories.size).toBe(1);
  });

  it('lends the bytes of each read and no others, of few and of many', async () => {
    const { logger } = keptLog();
    const transport = new TcpTransport(logger);
    let got = '';
    let onBytes = (): void => {};
    const onStream = (stream: ByteStream): void => {
      const onData = (chunk: Uint8Array): void => {
        got += Buffer.from(chunk).toString('latin1');
        onBytes();
      };
      const nothing = (): void => {};
      stream.handle({ onData, onEnd: () => stream.end(), onDrain: nothing, onClose: nothing });
    };
    const listener = await transport.listen({ host: LOCAL, port: 0 }, onStream, {
      chunks: 'lent',
    });
    closers.push(() => listener.close());
    const near = watched(await transport.dial({ host: LOCAL, port: listener.port }, 5000));
    let sent = '';
    for (const [letter, bytes] of [
      ['a', 3],
      ['b', 513],
      ['c', 3],
      ['d', 512],
      ['e', 1],
    ] as const) {
      sent += letter.repeat(bytes);
      const all = new Promise<void>((resolve) => {
        onBytes = () => got.length >= sent.length && resolve();
      });
      near.stream.write(Buffer.alloc(bytes, letter));
      await all;
      expect(got).toBe(sent);
    }
  });

  it('shows IPv4 addresses without ::ffff: on a dual stack listener', async () => {
    const { far } = await connected('::');
    expect(far.stream.remoteAddress).toBe(LOCAL);
    expect(far.stream.remotePort).toBeGreaterThan(0);
  });

  it('counts what the kernel has not taken, and tells when it has', async () => {
    const { near, far } = await connected();
    far.stream.pause();
    const total = 32 << 20;
    near.stream.write(Buffer.alloc(total));
    expect(near.stream.bufferedBytes).toBeGreaterThan(1 << 20);
    far.stream.resume();
    await near.drained;
    expect(near.stream.bufferedBytes).toBe(0);
    await far.bytes(total);
  });

  it('writes pieces in their order, between other bytes', async () => {
    const { near, far } = await connected();
    const large = Buffer.alloc(1 << 20, 'large');
    near.stream.write(Buffer.from('first'));
    near.stream.writePieces?.([Buffer.from('small'), large, Buffer.from('last')]);
    near.stream.write(Buffer.from('end'));
    near.stream.end();
    await far.ended;
    expect(far.text() === `firstsmall${large.toString()}lastend`).toBe(true);
    expect(near.stream.bufferedBytes).toBe(0);
  });

  it('tells the other side of a destroyed stream, and this one too, once', async () => {
    const { near, far } = await connected();
    near.stream.destroy();
    near.stream.write(Buffer.from('into the void'));
    expect(await near.closed).toBeUndefined();
    await far.ended;
  });

  it('tells the close of a stream that was handled too late', async () => {
    const { transport, listener } = await connected();
    const stream = await transport.dial({ host: LOCAL, port: listener.port }, 5000);
    stream.destroy();
    // The handle's close callback comes after the immediates of one turn of the loop.
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(await watched(stream).closed).toBeUndefined();
  });

  it('rejects a dial that is refused', async () => {
    const { transport, listener } = await connected();
    await listener.close();
    const dialled = transport.dial({ host: LOCAL, port: listener.port }, 5000);
    await expect(dialled).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('resolves a name anew at each dial (ZOOKEEPER-1506)', async () => {
    const { listener } = await connected();
    const lookup = vi.fn(async () => [LOCAL]);
    const names = new PeerNames(keptLog().logger, lookup);
    const transport = new TcpTransport(keptLog().logger, names);
    for (let dial = 1; dial <= 2; dial++) {
      watched(await transport.dial({ host: 'member.test', port: listener.port }, 5000));
      expect(lookup).toHaveBeenCalledTimes(dial);
    }
  });

  it('dials the last known address while a lookup hangs, and asks for the name once', async () => {
    const { listener } = await connected();
    const lookup = vi.fn(async () => [LOCAL]);
    const names = new PeerNames(keptLog().logger, lookup);
    const transport = new TcpTransport(keptLog().logger, names);
    const address = { host: 'member.test', port: listener.port };
    watched(await transport.dial(address, 5000));
    lookup.mockImplementation(() => new Promise(() => undefined));
    for (let dial = 1; dial <= 2; dial++) watched(await transport.dial(address, 5000));
    expect(lookup).toHaveBeenCalledTimes(2);
  });

  it('rejects a listen on a port that is taken', async () => {
    const { transport, listener } = await connected();
    const second = transport.listen({ host: LOCAL, port: listener.port }, () => {});
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('listens on several addresses with one port and one limit', async () => {
    const { logger, lines } = keptLog();
    const transport = new TcpTransport(logger);
    const accepted: string[] = [];
    const hosts = ['127.0.0.1', '127.0.0.2'];
    const listener = await transport.listen(
      { host: hosts, port: 0 },
      (stream) => {
        accepted.push(stream.remoteAddress);
        watched(stream);
      },
      { streamsMax: 2 },
    );
    closers.push(() => listener.close());
    const dial = async (host: string) =>
      watched(await transport.dial({ host, port: listener.port }, 5000));
    for (const host of hosts) await dial(host);
    await (await dial('127.0.0.2')).ended;
    expect(accepted).toHaveLength(2);
    expect(lines.map((line) => line.msg)).toEqual(['net.accept_dropped']);
    await expect(
      transport.dial({ host: '127.0.0.3', port: listener.port }, 5000),
    ).rejects.toThrow();
  });

  it('binds none of several addresses if one of them cannot be bound', async () => {
    const { transport, listener } = await connected();
    const { port } = listener;
    const both = transport.listen({ host: ['127.0.0.2', LOCAL], port }, () => {});
    await expect(both).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const again = await transport.listen({ host: '127.0.0.2', port }, () => {});
    closers.push(() => again.close());
  });

  it('listens on every address of the machine', async () => {
    const transport = new TcpTransport(keptLog().logger);
    const listener = await transport.listen(
      { host: '*', port: 0 },
      (stream) => void watched(stream),
    );
    closers.push(() => listener.close());
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      watched(await transport.dial({ host, port: listener.port }, 5000));
    }
  });

  it('logs a failed accept and goes on accepting (ZOOKEEPER-4203)', async () => {
    const create = vi.spyOn(net, 'createServer');
    const { transport, listener, lines } = await connected();
    const server: net.Server = create.mock.results[0]?.value;
    server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
    expect(lines.map((line) => line.msg)).toEqual(['net.accept_failed']);
    const again = watched(await transport.dial({ host: LOCAL, port: listener.port }, 5000));
    expect(again.stream.remotePort).toBe(listener.port);
  });
});

describe('a listener short of file descriptors', () => {
  it.each(['given', 'lent'] as const)(
    'drops too much with a line (chunks are %s)',
    async (chunks) => {
      const { logger, lines } = keptLog();
      const transport = new TcpTransport(logger);
      const accepted: WatchedStream[] = [];
      let onSecond = (): void => {};
      const second = new Promise<void>((resolve) => {
        onSecond = resolve;
      });
      const onStream = (stream: ByteStream): void => {
        accepted.push(watched(stream));
        if (accepted.length === 2) onSecond();
      };
      const listener = await transport.listen({ host: LOCAL, port: 0 }, onStream, {
        chunks,
        streamsMax: 1,
      });
      closers.push(() => listener.close());
      const dial = async () =>
        watched(await transport.dial({ host: LOCAL, port: listener.port }, 5000));
      const first = await dial();
      await (await dial()).ended;
      expect([accepted.length, lines.map((line) => line.msg)]).toEqual([1, ['net.accept_dropped']]);
      accepted[0]?.stream.destroy();
      await first.ended;
      await Promise.all([dial(), second]);
    },
  );
});

describe('the client port on TCP', () => {
  it('answers mntr to a client that half closes, as nc does', async () => {
    const { port, transport } = await clientPort(0);
    const client = watched(await transport.dial({ host: LOCAL, port: port.port }, 5000));
    client.stream.write(Buffer.from('mntr\n'));
    client.stream.end();
    expect(await client.closed).toBeUndefined();
    expect(client.text()).toMatch(/^zk_version\t3\.8\.0-/);
  });

  it('reports a taken port as a ListenError', async () => {
    const { port } = await clientPort(0);
    await expect(clientPort(port.port)).rejects.toBeInstanceOf(ListenError);
  });

  it('delivers the reply before the end of stream, though the client still sends', async () => {
    const { port, transport, handler } = await clientPort(0);
    handler.onFrameDo = (connection) => {
      connection.writer.raw(Buffer.from('expired'));
      connection.end();
    };
    const client = watched(await transport.dial({ host: LOCAL, port: port.port }, 5000));
    client.stream.write(Buffer.concat([Buffer.from([0, 0, 0, 1, 7]), Buffer.alloc(300_000)]));
    await client.ended;
    expect(client.text()).toBe('expired');
    client.stream.end();
    expect(await client.closed).toBeUndefined();
  });
});

async function clientPort(askedPort: number) {
  const { logger } = keptLog();
  const transport = new TcpTransport(logger);
  const handler = new RecordingHandler();
  const port = new ClientPort({
    options: {
      ...CLIENT_PORT_DEFAULTS,
      address: { host: LOCAL, port: askedPort },
      whitelist: new FourLetterWhitelist('*'),
    },
    transport,
    timers: systemTimers(),
    logger,
    stats: new ServerStats(),
  });
  await port.listen(handler, memberView());
  closers.push(() => port.close());
  return { port, transport, handler };
}
