/**
 * ZOOKEEPER-4203, 1506, 2982: a server that accepted no more connections after an error in accept,
 * and one that kept dialling the address to which a peer's name once resolved. The tests use real
 * sockets on loopback.
 */
import net from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import {
  type ByteStream,
  keptLog,
  type Listener,
  PeerDialler,
  PeerNames,
  systemTimers,
  TcpTransport,
} from '../simulated.js';

const LOCAL = '127.0.0.1';
/** Another loopback address, on which nobody listens. */
const FORMER = '127.0.0.99';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0)) await close();
});

interface Listening {
  readonly listener: Listener;
  readonly transport: TcpTransport;
  readonly lines: ReturnType<typeof keptLog>['lines'];
  /** The next stream that is accepted. */
  accepted(): Promise<ByteStream>;
}

async function listening(
  lookup?: (name: string) => Promise<readonly string[]>,
): Promise<Listening> {
  const { logger, lines } = keptLog();
  const transport = new TcpTransport(logger, new PeerNames(logger, lookup));
  const waiting: ((stream: ByteStream) => void)[] = [];
  const listener = await transport.listen({ host: LOCAL, port: 0 }, (stream) => {
    closers.push(() => stream.destroy());
    waiting.shift()?.(stream);
  });
  closers.push(() => listener.close());
  const accepted = () => new Promise<ByteStream>((resolve) => waiting.push(resolve));
  return { listener, transport, lines, accepted };
}

it('ZK-4203: a listener whose accept fails reports it and continues to accept', async () => {
  const create = vi.spyOn(net, 'createServer');
  const { listener, transport, lines, accepted } = await listening();
  const server: net.Server = create.mock.results[0]?.value;
  for (const code of ['EMFILE', 'ENFILE', 'ECONNABORTED']) {
    server.emit('error', Object.assign(new Error(`accept ${code}`), { code }));
    const next = accepted();
    const near = await transport.dial({ host: LOCAL, port: listener.port }, 5_000);
    closers.push(() => near.destroy());
    expect((await next).remoteAddress).toBe(LOCAL);
  }
  expect(lines.some(({ msg }) => msg === 'net.accept_failed')).toBe(true);
});

it('ZK-1506, ZK-2982: a peer whose name resolves to a new address is found there at the next attempt', async () => {
  let address = FORMER;
  const asked: string[] = [];
  const { listener, transport } = await listening(async (name) => {
    asked.push(name);
    return [address];
  });
  const failures: unknown[] = [];
  const stream = await new Promise<ByteStream>((resolve, reject) => {
    const owner = {
      transport,
      timers: systemTimers(),
      dialTls: () => null,
      random: () => 0.5,
      onDialled: (_peer: number, dialled: ByteStream) => resolve(dialled),
      onDialFailed: (_peer: number, _address: unknown, error: unknown) => {
        failures.push(error);
        if (failures.length === 2) address = LOCAL;
        if (failures.length === 5) reject(new Error('the new address is never dialled'));
      },
    };
    const dialler = new PeerDialler(owner, 2, { host: 'member-2', port: listener.port });
    closers.push(() => dialler.stop());
    dialler.start();
  });
  closers.push(() => stream.destroy());
  expect(stream.remotePort).toBe(listener.port);
  expect(failures.length).toBe(2);
  expect(asked).toEqual(['member-2', 'member-2', 'member-2']);
});
