/**
 * Goal: a member whose log has lost its newest part has no vote, so nothing acknowledged is lost.
 * Method: whole members; one is stopped cleanly and gets an older copy of its log, one lags behind,
 * and the one that has everything comes back last.
 */
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  serving,
  write,
} from './scenario.js';
import type { MemoryLogDirectory } from './storage/memory-log.js';

async function allThere(ensemble: MemoryEnsemble, paths: readonly string[]): Promise<boolean> {
  const reader = await connected(ensemble, ensemble.leader);
  const xids = paths.map((path) => reader.exists(path));
  await ensemble.until(() => xids.every((xid) => reader.errorOf(xid) !== undefined), 'answered');
  return xids.every((xid) => reader.errorOf(xid) === ErrorCode.ok);
}

it('loses no write when a log is cut off and another member lags', async () => {
  const ensemble = await serving({ tuning: { checkpointLogBytes: 1 << 30 } });
  const keeps = ensemble.leader;
  const [harmed = 0, lags = 0] = [1, 2, 3].filter((id) => id !== keeps);
  const client = await connected(ensemble, keeps);
  await write(ensemble, client, names('early', 10));
  await ensemble.stop(lags);
  const copy = filesOf(ensemble.logOf(harmed));
  await write(ensemble, client, names('late', 90));
  ensemble.kill(harmed);
  await ensemble.start(harmed);
  await everyoneServesBut(ensemble, lags);
  // It is quiet for a moment; then the process is gone, and its log is what it was before.
  await ensemble.timers.advance(3_000);
  ensemble.kill(harmed);
  ensemble.kill(keeps);
  await putBack(ensemble.logOf(harmed), copy);
  await ensemble.start(harmed, lags);
  await ensemble.timers.advance(5_000);
  expect(ensemble.serves(harmed) || ensemble.serves(lags), 'no quorum has a vote').toBe(false);
  await ensemble.start(keeps);
  await everyoneServes(ensemble);
  expect(await allThere(ensemble, [...names('early', 10), ...names('late', 90)])).toBe(true);
  await expectEqual(ensemble);
});

it('misses what was durable for more than a second, although it never was quiet', async () => {
  const ensemble = await serving({ tuning: { checkpointLogBytes: 1 << 30 } });
  const harmed = follower(ensemble);
  const client = await connected(ensemble, ensemble.leader);
  const copies: ReadonlyMap<string, Uint8Array>[] = [];
  for (let count = 0; count < 400; count++) {
    client.create(`/a-${count}`, '');
    await ensemble.timers.advance(10);
    copies.push(filesOf(ensemble.logOf(harmed)));
  }
  ensemble.kill(harmed);
  // Some ticks and syncs more than a second ago.
  const { length } = copies;
  await putBack(ensemble.logOf(harmed), copies[length - 120] ?? new Map());
  await ensemble.start(harmed);
  expect(ensemble.lines.filter((line) => line.includes('server.damaged'))).toEqual([
    expect.stringContaining('its newest part is damaged or missing'),
  ]);
  await everyoneServes(ensemble);
  await expectEqual(ensemble);
});

async function putBack(
  log: MemoryLogDirectory,
  copy: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  for (const name of log.names()) {
    const bytes = copy.get(name);
    if (bytes === undefined) await log.remove(name);
    else log.tamper(name, () => bytes);
  }
}

function filesOf(log: MemoryLogDirectory): ReadonlyMap<string, Uint8Array> {
  return new Map(log.names().map((name) => [name, log.bytesOf(name)]));
}

async function everyoneServesBut(ensemble: MemoryEnsemble, away: number): Promise<void> {
  const ids = [1, 2, 3].filter((id) => id !== away);
  await ensemble.until(() => ids.every((id) => ensemble.serves(id)), 'did both serve');
}
