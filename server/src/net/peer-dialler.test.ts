/** When members dial each other: back-off, wake-ups, and what a wake-up cannot cause. */
import { encodePeerFrame } from '@rookery/protocol/peer';
import { describe, expect, it } from 'vitest';
import { FarEnd } from '../simulated/net/fixtures.js';
import { MemoryNetwork } from '../simulated/net/memory-transport.js';
import { HELLO, Member, PORT, pair, world } from '../simulated/net/peer-member.js';

describe('a dialler', () => {
  it('backs off from 50 ms to 1 s, and logs an unreachable member once', async () => {
    const { timers, network } = world();
    const dials: number[] = [];
    const transport = network.transport('m2');
    const counting: MemoryNetwork = new MemoryNetwork(timers);
    counting.transport = () => ({
      listen: transport.listen,
      dial: (address, timeoutMs) => {
        if (address.host === 'm1') dials.push(timers.nowMs());
        return transport.dial(address, timeoutMs);
      },
    });
    const two = new Member({ id: 2, timers, network: counting });
    await two.listen();
    await timers.advance(5_000);
    const gaps = dials.slice(1).map((atMs, index) => Math.round(atMs - (dials[index] ?? 0)));
    // Three quarters of the back-off, since the injected randomness is one half, and 1 ms to fail.
    expect(gaps.slice(0, 7)).toEqual([39, 76, 151, 301, 601, 751, 751]);
    expect(two.logged('peer.unreachable').length).toBe(1);
  });

  it('does not wait for its back-off when the member that it dials comes up', async () => {
    const { timers, network } = world();
    const two = new Member({ id: 2, timers, network });
    await two.listen();
    await timers.advance(5_000);
    const one = new Member({ id: 1, timers, network });
    await one.listen();
    await timers.advance(8);
    expect([one.events, two.events]).toEqual([['connected 2 i2'], ['connected 1 i1']]);
    await timers.advance(5_000);
    expect([...one.events, ...two.events].length).toBe(2);
    expect([...one.lines, ...two.lines].filter((line) => line.level > 30)).toEqual([]);
  });

  it('is hurried by a member that is back before it is missed, and takes it for no rival', async () => {
    const { timers, network, two } = await pair();
    const next = new Member({ id: 1, host: 'm1b', instance: 'next', timers, network });
    await next.listen();
    await timers.advance(20);
    expect([...two.logged('peer.refused'), ...next.logged('peer.refused_by')]).toEqual([]);
    expect(two.events).toEqual(['connected 1 i1']);
  });

  it('dials hardly more often than without back-off, however many wake-ups come', async () => {
    const { timers, network } = world();
    const dials: number[] = [];
    const transport = network.transport('m2');
    const counting: MemoryNetwork = new MemoryNetwork(timers);
    counting.transport = () => ({
      listen: transport.listen,
      dial: (address, timeoutMs) => {
        if (address.host === 'm1') dials.push(timers.nowMs());
        return transport.dial(address, timeoutMs);
      },
    });
    const two = new Member({ id: 2, timers, network: counting });
    await two.listen();
    await timers.advance(5_000);
    dials.length = 0;
    for (let wakeUp = 0; wakeUp < 300; wakeUp++) {
      const dialled = network.transport('m1').dial({ host: 'm2', port: PORT }, 1000);
      await timers.advance(2);
      new FarEnd(await dialled).stream.write(encodePeerFrame({ ...HELLO, id: 1, to: 2 }));
      await timers.advance(1);
    }
    const gaps = dials.slice(1).map((atMs, index) => atMs - (dials[index] ?? 0));
    expect(gaps.length).toBeGreaterThan(10);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(25);
  });

  it('takes no answer to a wake-up for a link', async () => {
    const { timers, network } = world();
    const answers: FarEnd[] = [];
    await network.transport('m3').listen({ host: 'm3', port: PORT }, (stream) => {
      answers.push(new FarEnd(stream));
      stream.write(encodePeerFrame({ ...HELLO, id: 3, to: 2 }));
    });
    const two = new Member({ id: 2, timers, network });
    await two.listen();
    await timers.advance(20);
    expect(two.events).toEqual([]);
    expect(answers.map((far) => far.text)).toEqual([expect.stringMatching(/3 answers a wake-up/)]);
  });

  it('starts from 50 ms again once a hello came through', async () => {
    const { timers, network, one, two } = await pair();
    network.crash('m1');
    await timers.advance(3_000);
    const again = new Member({ id: 1, instance: 'fresh', timers, network });
    await again.listen();
    await timers.advance(1_100);
    expect(two.events.at(-1)).toBe('connected 1 fresh');
    again.port.disconnect(2, again.linkTo(2), 'test');
    await timers.advance(50);
    expect(two.events.slice(-2)).toEqual(['disconnected 1', 'connected 1 fresh']);
    expect(one.events.length).toBe(1);
  });
});
