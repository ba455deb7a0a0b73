/**
 * The network in memory keeps the promises of the transport, and the faults are those of TCP.
 */
import { describe, expect, it } from 'vitest';
import type { ByteStream } from '../../net/transport.js';
import { FarEnd } from './fixtures.js';
import { ManualTimers } from './manual-timers.js';
import { MemoryNetwork } from './memory-transport.js';

const B = { host: 'b', port: 1 };

async function connected() {
  const timers = new ManualTimers();
  const network = new MemoryNetwork(timers, { windowBytes: 10 });
  const accepted: ByteStream[] = [];
  await network.transport('b').listen(B, (stream) => accepted.push(stream));
  const dialled = network.transport('a').dial(B, 100);
  await timers.advance(1);
  const [far] = accepted;
  if (far === undefined) throw new Error('nothing was accepted');
  return { timers, network, near: new FarEnd(await dialled), far: new FarEnd(far) };
}

describe('the network in memory', () => {
  it('delivers in order after the latency, never inside a call', async () => {
    const { timers, near, far } = await connected();
    near.stream.write(Buffer.from('a'));
    near.stream.write(Buffer.from('b'));
    near.stream.end();
    expect(far.text).toBe('');
    await timers.advance(1);
    expect([far.text, far.hasEnded, far.isClosed]).toEqual(['ab', true, false]);
    far.stream.end();
    await timers.advance(1);
    expect([near.isClosed, far.isClosed]).toEqual([true, true]);
  });

  it('holds back everything across a cut and delivers it when healed', async () => {
    const { timers, network, near, far } = await connected();
    near.stream.write(Buffer.from('before'));
    network.cut('a', 'b');
    near.stream.write(Buffer.from(' during'));
    await timers.advance(1_000);
    expect(far.text).toBe('');
    network.heal('a', 'b');
    expect(far.text).toBe('before during');
  });

  it('counts what exceeds the window as buffered while the other end is paused', async () => {
    const { timers, near, far } = await connected();
    far.stream.pause();
    near.stream.write(Buffer.alloc(25));
    await timers.advance(5);
    expect(near.stream.bufferedBytes).toBe(15);
    far.stream.resume();
    await timers.advance(5);
    expect([near.stream.bufferedBytes, far.text.length]).toEqual([0, 25]);
  });

  it('resets the streams of a crashed host and refuses dials to it', async () => {
    const { timers, network, near, far } = await connected();
    network.crash('b');
    const refused = network.transport('a').dial(B, 100);
    refused.catch(() => {});
    await timers.advance(5);
    expect([near.isClosed, far.isClosed]).toEqual([true, false]);
    await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('loses as much as it is told of what a crashed host had sent, the last first', async () => {
    const textAfter = async (lostShare: number) => {
      const { timers, network, near, far } = await connected();
      for (const piece of ['a', 'b', 'c']) far.stream.write(Buffer.from(piece));
      network.crash('b', () => lostShare);
      await timers.advance(5);
      expect(near.isClosed).toBe(true);
      return near.text;
    };
    expect(await textAfter(0)).toBe('abc');
    expect(await textAfter(0.5)).toBe('a');
    expect(await textAfter(0.99)).toBe('');
  });

  it('times out a dial across a cut, and lets one through that is healed in time', async () => {
    const { timers, network } = await connected();
    network.cut('a', 'b');
    const late = network.transport('a').dial(B, 100);
    late.catch(() => {});
    await timers.advance(101);
    await expect(late).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    const inTime = network.transport('a').dial(B, 100);
    await timers.advance(50);
    network.heal('a', 'b');
    expect((await inTime).remotePort).toBe(1);
  });
});
