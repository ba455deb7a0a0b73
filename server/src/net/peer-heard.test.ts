/**
 * Which members a peer port has heard from, for those that send large messages over slow lines.
 */
import { encodePeerFrame } from '@rookery/protocol/peer';
import { expect, it } from 'vitest';
import { dialMember1, HELLO, pair } from '../simulated/net/peer-member.js';

it('a member of whose message only a part has arrived is heard from', async () => {
  const { timers, network, one } = await pair();
  const far = await dialMember1(network, timers);
  far.stream.write(encodePeerFrame(HELLO));
  await timers.advance(100);
  one.port.takeHeard(timers.nowMs());
  await timers.advance(10);
  expect(one.port.takeHeard(timers.nowMs())).toEqual([]);
  far.stream.write(Buffer.from([0, 0, 1, 0, 7]));
  await timers.advance(10);
  expect(one.port.takeHeard(timers.nowMs()).map(({ peer }) => peer)).toEqual([3]);
  await timers.advance(10);
  expect(one.port.takeHeard(timers.nowMs())).toEqual([]);
});
