/** The file of discarded transactions: its bound, what is left out, and what is never in it. */
import { formatZxid, makeZxid, type Proposal } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { encodeTxn } from '../simulated/state/encoded-txn.js';
import type { TxnOp } from '../state/txn.js';
import { Counters } from './counters.js';
import { keepDiscarded } from './discarded.js';
import type { DriverParts } from './parts.js';

const FILE_BYTES_MAX = 16 << 20;
const AFTER = makeZxid(1, 10);

function proposalOf(counter: number, op: TxnOp): Proposal {
  const zxid = makeZxid(1, counter);
  const body = encodeTxn({ origin: 1, request: counter, session: 7, time: 5, op });
  return { zxid, previous: zxid - 1, body };
}

/** The lines of the file that was kept, and what was said and counted. */
async function kept(ops: readonly TxnOp[]) {
  const lines: string[] = [];
  const log = keptLog();
  const counters = new Counters(0);
  const proposals = ops.map((op, index) => proposalOf(11 + index, op));
  const parts = {
    logger: log.logger,
    counters,
    options: { id: 1 },
    timers: { wallMs: () => 0 },
    storage: {
      base: 0,
      async *readHistory() {
        for (const proposal of proposals) yield [proposal];
      },
    },
    keepAside: async (_name: string, given: AsyncIterable<string>) => {
      for await (const line of given) lines.push(line);
      return '/kept';
    },
  } as unknown as DriverParts;
  const through = makeZxid(1, 10 + ops.length);
  await keepDiscarded(parts, { after: AFTER, through });
  return { lines, counters, told: log.lines };
}

it('has the newest transactions up to 16 MB, and says how many older ones it leaves out', async () => {
  // In base64 a third more.
  const data = Buffer.alloc(750_000, 0x61);
  const count = 30;
  const op: TxnOp = { kind: 'setData', path: '/a', data, version: 1 };
  const { lines, counters, told } = await kept(Array.from({ length: count }, () => op));
  const [head, leftOut, ...transactions] = lines.map((line) => JSON.parse(line));
  const bytes = lines.slice(2).join('').length;
  expect(bytes).toBeLessThanOrEqual(FILE_BYTES_MAX);
  expect(bytes).toBeGreaterThan(FILE_BYTES_MAX - 1_100_000);
  expect(head).toMatchObject({ member: 1, after: formatZxid(AFTER) });
  expect(leftOut).toEqual({ olderLeftOut: count - transactions.length });
  expect(transactions.at(-1).zxid).toBe(formatZxid(makeZxid(1, 10 + count)));
  expect(transactions[0].zxid).toBe(formatZxid(makeZxid(1, 11 + leftOut.olderLeftOut)));
  expect(counters.discardedTransactions).toBe(count);
  const facts = { level: 50, msg: 'history.discarded', file: '/kept' };
  expect(told).toMatchObject([
    { ...facts, transactions: transactions.length, leftOut: leftOut.olderLeftOut },
  ]);
});

it('has data as base64 and no password', async () => {
  const password = Buffer.from('sixteen secret b');
  const { lines } = await kept([
    { kind: 'setData', path: '/a', data: Buffer.from('told'), version: 1 },
    { kind: 'createSession', timeoutMs: 4_000, password } as TxnOp,
  ]);
  const text = lines.join('');
  expect(text).toContain(Buffer.from('told').toString('base64'));
  expect(text).not.toContain(password.toString('base64'));
  expect(text).not.toContain('password');
});
