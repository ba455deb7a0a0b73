/** What commands must not tell, and how much of a long answer is made in one turn. */
import { expect, it } from 'vitest';
import { checkSettings } from '../config/config-schema.js';
import { ServerStats } from '../net/server-stats.js';
import { memberView } from '../simulated/net/fixtures.js';
import { commandAnswer, expiries, settingsText, watchedPathsOf } from './commands.js';
import { jsonPieces } from './json-text.js';

const DIGEST = 'ops:1vdFRDCql3UzcxJ7kySyFCmtSF0=';

it('tells the settings that are known to be no secrets, and none that is added later', () => {
  const servers = [{ id: 1, host: 'h', clientPort: 2181, peerPort: 2888 }];
  const given = {
    dataDir: 'd',
    servers,
    superDigest: `super:${DIGEST.slice(4)}`,
    adminUsers: [DIGEST],
  };
  const { settings } = checkSettings(given);
  if (settings === null) throw new Error('the settings are valid');
  const config = {
    ...settings,
    peerSecret: 'hunter2',
    servers: [{ ...servers[0], tlsKey: 'hunter2' }],
  };
  const text = settingsText(config as never);
  expect(text).toContain('tickTime');
  expect(text).toContain('servers=[{"id":1,"host":"h","clientPort":2181,"peerPort":2888}]');
  expect(text).not.toMatch(/ops|hunter2|Digest|adminUsers/);
});

it('gathers a hundred thousand leases, and skips as many watches, over many turns', () => {
  const all = Array.from({ length: 100_000 }, (_, id) => ({ id: id + 1, inMs: id % 50_000 }));
  const view = memberView({
    sessions: { expiries: all, all: [], local: null },
    watchedPaths: () => Array<null>(100_000).fill(null),
  });
  const context = { view, stats: new ServerStats(), wallMs: 0, connectionCount: 0 };
  const pieces = jsonPieces(expiries({ ...context, connections: () => [] }));
  let empty = 0;
  while (pieces.next().value === '') empty += 1;
  expect(empty).toBe(100_000);
  expect([...jsonPieces(watchedPathsOf(view))].length).toBe(100_001);
});

it('refuses a trace mask that is no number of 64 bits with 400, where ZooKeeper answers 200', () => {
  const stats = new ServerStats();
  const context = { view: memberView({}), stats, wallMs: 0, connectionCount: 0 };
  const set = (mask: string) =>
    commandAnswer(
      'set_trace_mask',
      { ...context, connections: () => [] } as never,
      new URLSearchParams(mask === '' ? {} : { traceMask: mask }),
    );
  for (const mask of [
    '',
    'abc',
    '0x10',
    '9223372036854775808',
    '-9223372036854775809',
    '1'.repeat(20),
  ]) {
    expect(() => set(mask), mask).toThrow(expect.objectContaining({ status: 400 }));
  }
  expect(stats.traceMask).toBe(306n);
  set('-9223372036854775808');
  expect(stats.traceMask).toBe(-(2n ** 63n));
});
