/**
 * Goal: a stranger at the port of a proxy harms no test. Method: a ZooKeeper learner's words, and
 * a four-letter word, which is no frame.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ClientProxy, ReplyTrap } from './client-proxy.js';
import { freePorts } from './ports.js';

/** FOLLOWERINFO: type 11, zxid, then LearnerInfo of 20 bytes; it has no frames. */
const FOLLOWER_INFO = Buffer.concat([
  Buffer.from([0, 0, 0, 11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20]),
  Buffer.alloc(20),
]);

it.each([
  { who: 'a learner', words: FOLLOWER_INFO },
  { who: 'who asks for the state', words: Buffer.from('srvr') },
])('hangs up on $who, as no handshake comes first', async ({ words }) => {
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
