/** An election counts, whatever hides it. The member in this test answers as instructed. */
import net from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { Sampler } from './sampler.js';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Answers any word with the next of `answers`, and with the last one from then on. */
async function member(answers: readonly string[]) {
  let asked = 0;
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answers[Math.min(asked++, answers.length - 1)] ?? ''));
  });
  closers.push(() => server.close());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has a port');
  return { host: '127.0.0.1', port: address.port };
}

const led = (epoch: number): string => `Zxid: 0x${epoch}00000001\nMode: leader\n`;

async function electionsOf(answers: readonly string[]): Promise<number> {
  const hosts = [await member(answers)];
  const sampler = new Sampler({ name: 'told', hosts, ensemble: null });
  await sampler.look();
  await sampler.stop();
  return sampler.elections;
}

it('counts a new epoch, and none while nothing changes', async () => {
  expect(await electionsOf([led(3), led(3), led(4)])).toBe(1);
  expect(await electionsOf([led(3)])).toBe(0);
});

it('counts an election in which the member did not answer', async () => {
  expect(await electionsOf([led(3), 'does not serve', led(4)])).toBe(1);
  expect(await electionsOf([led(3), 'does not serve', led(3)])).toBe(0);
});
