/**
 * A stranger at the port of a proxy harms no test, and a reply that is to be lost is lost even if a
 * connection breaks by itself before. The tests use a ZooKeeper learner's greeting, a four-letter
 * word, which is not a frame, and a server that closes the connection once.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ClientProxy, ReplyTrap } from './client-proxy.js';
import { freePorts } from './ports.js';

/** FOLLOWERINFO: type 11, zxid, then LearnerInfo of 20 bytes; it has no framing. */
const FOLLOWER_INFO = Buffer.concat([
  Buffer.from([0, 0, 0, 11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20]),
  Buffer.alloc(20),
]);

function frame(...words: number[]): Buffer {
  const buffer = Buffer.alloc(4 + words.length * 4);
  [words.length * 4, ...words].forEach((word, index) => {
    buffer.writeInt32BE(word, index * 4);
  });
  return buffer;
}

it.each([
  { who: 'a learner', words: FOLLOWER_INFO },
  { who: 'a client that sends a four-letter word', words: Buffer.from('srvr') },
])('closes the connection of $who, because no handshake comes first', async ({ words }) => {
  const [port = 0, target = 0] = await freePorts(2);
  let passed = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      passed += chunk.length;
    });
  });
  server.listen(target, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const proxy = await ClientProxy.listen({ port, target, trap: new ReplyTrap() });
  onTestFinished(() => proxy.close());
  const stranger = connect({ port, host: '127.0.0.1' });
  stranger.on('error', () => undefined);
  stranger.write(words);
  await once(stranger, 'close');
  expect(passed).toBe(0);
});

it('loses the next reply if the connection broke before the one that it waited for', async () => {
  const [port = 0, target = 0] = await freePorts(2);
  let connections = 0;
  const server = createServer((socket) => {
    const mayAnswer = ++connections > 1;
    socket.on('error', () => undefined);
    // Handshake and request arrive together.
    socket.on('data', () => {
      if (mayAnswer) socket.write(Buffer.concat([frame(0), frame(1, 0, 9, 0)]));
      else socket.destroy();
    });
  });
  server.listen(target, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const trap = new ReplyTrap();
  const proxy = await ClientProxy.listen({ port, target, trap });
  onTestFinished(() => proxy.close());
  const lost = trap.arm(4);
  const ask = async (): Promise<Socket> => {
    const client = connect({ port, host: '127.0.0.1' });
    client.on('error', () => undefined);
    client.on('data', () => undefined);
    client.write(Buffer.concat([frame(0, 0, 0, 0, 0, 0, 0), frame(1, 4)]));
    await once(client, 'close');
    return client;
  };
  await ask();
  const { bytesRead } = await ask();
  expect(await lost).toEqual({ opcode: 4, error: 0 });
  expect(bytesRead, 'only the handshake').toBe(frame(0).length);
});
