/**
 * Setting watches again takes several requests if there are many of them, and the connection may
 * be lost between their answers. The next connection must then ask for all changes that the
 * interrupted one has not reported, although it has already shown a newer zxid.
 */
import { decode, SetWatchesRequest } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { ScriptedClient } from '../testing/scripted-client.js';
import { dataBody, turn } from '../testing/scripted-server.js';
import { REARM_PATH_BYTES_MAX } from '../watches/rearm.js';

const SEEN_ZXID = 10;

/** Connected, with two watches that do not fit into one request. */
async function watching(): Promise<ScriptedClient> {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  const { client, network } = scripted;
  for (const letter of ['a', 'b']) {
    const path = `/${letter.repeat(REARM_PATH_BYTES_MAX / 2)}`;
    const read = client.getData(path, { watcher: () => undefined });
    await turn();
    network.last.reply({ zxid: SEEN_ZXID, body: dataBody('') });
    await read;
  }
  return scripted;
}

/** Makes the next connection. Returns the zxids since which it asks for changes. */
async function reconnect(scripted: ScriptedClient, sessionId = 1): Promise<unknown[]> {
  scripted.network.last.close();
  await scripted.accept(sessionId);
  const { received } = scripted.network.last;
  return received.map(({ body }) => decode(SetWatchesRequest, body).relativeZxid);
}

it('asks again for changes since the same zxid if not all requests were answered', async () => {
  const scripted = await watching();
  expect(await reconnect(scripted)).toEqual([SEEN_ZXID, SEEN_ZXID]);
  scripted.network.last.reply({ zxid: 20 });
  expect(scripted.client.lastZxidSeen).toBe(20n);
  expect(await reconnect(scripted)).toEqual([SEEN_ZXID, SEEN_ZXID]);
});

it('asks for changes since the newest zxid seen once all requests were answered', async () => {
  const scripted = await watching();
  await reconnect(scripted);
  for (const zxid of [20, 21]) scripted.network.last.reply({ zxid });
  expect(await reconnect(scripted)).toEqual([21, 21]);
});

it('forgets what an earlier session has missed', async () => {
  const scripted = await watching();
  await reconnect(scripted);
  scripted.network.last.reply({ zxid: 20 });
  scripted.network.last.close();
  const link = await scripted.nextHandshake();
  link.refuseSession();
  await scripted.accept(2);
  const read = scripted.client.getData('/c', { watcher: () => undefined });
  await turn();
  scripted.network.last.reply({ zxid: 30, body: dataBody('') });
  await read;
  expect(await reconnect(scripted, 2)).toEqual([30]);
});
