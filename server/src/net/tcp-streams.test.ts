/**
 * What a stream does when its peer breaks off, half closes or writes too much: the same,
 * whether its chunks are its own, lent, or to be lent where Node does not let us.
 *
 * Streams that lend have the handle of an accepted socket in a socket of their own, which is no
 * documented use of Node: so each of its ways to end is tried, on real sockets.
 */
import net from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { type WatchedStream, watchedStream } from '../simulated/net/watched-stream.js';
import { TcpTransport } from './tcp.js';
import type { ByteStream, Chunks, StreamHandlers } from './transport.js';

const LOCAL = '127.0.0.1';
const MORE_BYTES = 4 << 20;
const closers: (() => unknown)[] = [];

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0)) await close();
});

function watched(stream: ByteStream): WatchedStream {
  closers.push(() => stream.destroy());
  return watchedStream(stream);
}

/** `accept` gives a client of its own, and what was accepted of it and is not handled yet. */
async function listening(chunks: Chunks, streamsMax = 1000) {
  const { logger, lines } = keptLog();
  const transport = new TcpTransport(logger);
  const waiting: ((stream: ByteStream) => void)[] = [];
  const onStream = (stream: ByteStream): void => waiting.shift()?.(stream);
  const listener = await transport.listen({ host: LOCAL, port: 0 }, onStream, {
    chunks,
    streamsMax,
  });
  closers.push(() => listener.close());
  const accept = async () => {
    const accepted = new Promise<ByteStream>((resolve) => waiting.push(resolve));
    const client = net.connect({ host: LOCAL, port: listener.port, allowHalfOpen: true });
    client.on('error', () => undefined);
    closers.push(() => client.destroy());
    return { client, accepted: await accepted };
  };
  return { accept, lines };
}

/** What it reads until the other side ends. */
async function allOf(client: net.Socket): Promise<string> {
  return await new Promise((resolve) => {
    let text = '';
    client.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    client.once('end', () => resolve(text));
  });
}

/** As if Node kept the handle of a socket elsewhere: all else is the socket's own. */
function withoutHandles(): void {
  const create = net.createServer;
  vi.spyOn(net, 'createServer').mockImplementation((options, onSocket) =>
    create(options ?? {}, (socket) => {
      const get = (target: net.Socket, key: string | symbol): unknown => {
        if (key === '_handle') return undefined;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      };
      onSocket?.(new Proxy(socket, { get }));
    }),
  );
}

/** In a function of its own, so that nothing but the stream may keep the handlers. */
function withFirstHandlers(stream: ByteStream): WeakRef<StreamHandlers> {
  const nothing = (): void => undefined;
  const handlers = { onData: nothing, onEnd: nothing, onDrain: nothing, onClose: nothing };
  stream.handle(handlers);
  return new WeakRef(handlers);
}

/** As `listening`, where ours is the one that dials. */
async function dialling(chunks: Chunks) {
  const transport = new TcpTransport(keptLog().logger);
  const waiting: ((socket: net.Socket) => void)[] = [];
  const server = net.createServer({ allowHalfOpen: true }, (socket) => waiting.shift()?.(socket));
  await new Promise<void>((resolve) => server.listen(0, LOCAL, resolve));
  closers.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens at a port');
  const accept = async () => {
    const connected = new Promise<net.Socket>((resolve) => waiting.push(resolve));
    const accepted = await transport.dial({ host: LOCAL, port: address.port }, 1000, chunks);
    const client = await connected;
    client.on('error', () => undefined);
    closers.push(() => client.destroy());
    return { client, accepted };
  };
  return { accept };
}

describe.each([
  ['accepted', 'are its own', () => listening('given'), () => {}],
  ['accepted', 'are lent', () => listening('lent'), () => {}],
  ['accepted', 'cannot be lent', () => listening('lent'), withoutHandles],
  ['dialled', 'are its own', () => dialling('given'), () => {}],
  ['dialled', 'are lent', () => dialling('lent'), () => {}],
] as const)('an %s stream whose chunks %s', (_whose, _name, begin, prepare) => {
  it('tells a connection that its peer breaks off, and why', async () => {
    prepare();
    const { accepted, client } = await (await begin()).accept();
    const far = watched(accepted);
    client.write('first');
    await far.bytes(5);
    client.resetAndDestroy();
    expect(await far.closed).toMatchObject({ code: 'ECONNRESET' });
    far.stream.write(Buffer.from('into the void'));
    far.stream.end();
    far.stream.destroy();
    expect(far.text()).toBe('first');
  });

  it('gets what came before it was handled', async () => {
    prepare();
    const { accepted, client } = await (await begin()).accept();
    await new Promise<void>((resolve) => client.write('early', () => resolve()));
    const far = watched(accepted);
    await far.bytes(5);
    expect(far.text()).toBe('early');
  });

  it('tells one that broke off before it was handled', async () => {
    prepare();
    const { accepted, client } = await (await begin()).accept();
    client.resetAndDestroy();
    expect(await watched(accepted).closed).toMatchObject({ code: 'ECONNRESET' });
  });

  it('keeps no handlers that others have replaced', async () => {
    prepare();
    const { accepted, client } = await (await begin()).accept();
    const former = withFirstHandlers(accepted);
    const far = watched(accepted);
    client.write('first');
    await far.bytes(5);
    collect();
    expect(former.deref()).toBeUndefined();
  });

  it('goes on writing to a peer that has half closed', async () => {
    prepare();
    const { accepted, client } = await (await begin()).accept();
    const far = watched(accepted);
    client.end('question');
    await far.ended;
    far.stream.write(Buffer.from('answer'));
    far.stream.end();
    expect(await allOf(client)).toBe('answer');
    expect(await far.closed).toBeUndefined();
    expect(far.text()).toBe('question');
  });

  it('goes on reading when it has half closed', async () => {
    prepare();
    const { accepted, client } = await (await begin()).accept();
    const far = watched(accepted);
    far.stream.write(Buffer.from('welcome'));
    far.stream.end();
    expect(await allOf(client)).toBe('welcome');
    client.end('more');
    await far.ended;
    expect(await far.closed).toBeUndefined();
    expect(far.text()).toBe('more');
  });

  it('gets nothing while it is paused, and all of it afterwards', async () => {
    prepare();
    const { accept } = await begin();
    const { accepted, client } = await accept();
    const far = watched(accepted);
    client.write('one');
    await far.bytes(3);
    far.stream.pause();
    client.write(Buffer.alloc(MORE_BYTES));
    // What another one has read in the meantime, this one could have.
    const other = await accept();
    const otherFar = watched(other.accepted);
    other.client.write(Buffer.alloc(MORE_BYTES));
    await otherFar.bytes(MORE_BYTES);
    expect(far.text()).toBe('one');
    far.stream.resume();
    await far.bytes(3 + MORE_BYTES);
  });
});

describe('a listener of few streams', () => {
  it.each(['given', 'lent'] as const)(
    'has room again when a peer broke off (chunks are %s)',
    async (chunks) => {
      const { accept, lines } = await listening(chunks, 1);
      for (let round = 0; round < 3; round++) {
        const { accepted, client } = await accept();
        const far = watched(accepted);
        client.resetAndDestroy();
        await far.closed;
      }
      expect(lines).toEqual([]);
    },
  );
});
