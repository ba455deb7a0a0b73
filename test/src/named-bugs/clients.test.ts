/**
 * Bugs of ZooKeeper's client: an endless loop while no server is up, and names that were resolved
 * only once. The tests use the real client, with a scripted network and a clock of its own.
 */
import { expect, it } from 'vitest';
import { ScriptedClient, SESSION_TIMEOUT_MS } from '../../../client/src/testing/scripted-client.js';
import { turn } from '../../../client/src/testing/scripted-server.js';

const MINUTE_MS = 60_000;

it('ZK-4508: while no server is up, attempts become less frequent, and the first server that comes up is found', async () => {
  const scripted = new ScriptedClient();
  scripted.network.onDial = (link) => link.close(new Error('refused'));
  await scripted.pass(MINUTE_MS);
  const first = scripted.network.links.length;
  await scripted.pass(MINUTE_MS);
  const second = scripted.network.links.length - first;
  // Three servers a round, and later a round about every second: a pause is at most a sixth of the
  // session timeout. Without pauses there would be thousands.
  expect(first).toBeLessThan(300);
  expect(second).toBeLessThanOrEqual(first);
  expect(second).toBeGreaterThan(0);
  scripted.network.onDial = (link) => link.open();
  await scripted.pass(MINUTE_MS / 2);
  const asked = scripted.network.links.filter((link) => link.handshake !== null);
  expect(asked.length).toBeGreaterThan(0);
  asked.at(-1)?.answerHandshake({ id: 1, timeoutMs: SESSION_TIMEOUT_MS });
  await turn();
  expect(scripted.states.at(-1)).toBe('connected');
});

it('ZK-2184: a server whose name resolves to a new address is found there in the next round', async () => {
  const addresses = ['10.0.0.1', '10.0.0.1', '10.0.0.2'];
  const asked: string[] = [];
  const scripted = new ScriptedClient({
    connectString: 'name',
    resolve: async (host) => {
      asked.push(host);
      return [addresses[Math.min(asked.length, addresses.length) - 1] ?? ''];
    },
  });
  scripted.network.onDial = (link) => {
    if (link.address.ip === '10.0.0.2') link.open();
    else link.close(new Error('no route'));
  };
  await scripted.pass(MINUTE_MS / 4);
  const { links } = scripted.network;
  expect(links.slice(0, 3).map(({ address }) => address.ip)).toEqual(addresses);
  expect(links[2]?.handshake).not.toBeNull();
});
