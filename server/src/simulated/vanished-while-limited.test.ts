/**
 * A client that has sent more than `requestsPerSecondMax` lets through, and then vanishes without a
 * word: its session ends as usual, whatever still waits of its requests.
 */
import { expect, it } from 'vitest';
import { NO_NODE } from '../state/tree.js';
import { connected, serving } from './scenario.js';

const EPHEMERAL = 1;
const WAITING = 120;
/** More than the timeout of the session and its lease, less than what the requests take. */
const SECONDS = 30;

async function withBacklog() {
  const ensemble = await serving({ settings: { requestsPerSecondMax: 2 } });
  const client = await connected(ensemble, ensemble.leader);
  client.create('/mine', '', EPHEMERAL);
  for (let count = 0; count < WAITING; count++) client.exists('/');
  const { tree } = ensemble.member(ensemble.leader).state;
  const isThere = () => tree.find('/mine') !== NO_NODE;
  await ensemble.until(isThere, 'was the znode created');
  return { ensemble, client, isThere };
}

it('ends the session of a client that sends nothing more', async () => {
  const { ensemble, client, isThere } = await withBacklog();
  await ensemble.timers.advance(SECONDS * 1_000);
  expect(client.replies.length).toBeLessThan(WAITING);
  expect([isThere(), client.closed]).toEqual([false, true]);
});

it('keeps the session of a client that goes on, although its requests wait for longer', async () => {
  const { ensemble, client, isThere } = await withBacklog();
  for (let second = 0; second < SECONDS; second++) {
    await ensemble.timers.advance(1_000);
    if (second % 3 === 0) client.exists('/');
  }
  expect(client.replies.length).toBeLessThan(WAITING);
  expect([isThere(), client.closed]).toEqual([true, false]);
});
