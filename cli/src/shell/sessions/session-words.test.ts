/** Answers of both products to the words that tell of sessions. */
import { expect, it } from 'vitest';
import { connectionsIn, sessionsIn, watchesIn } from './session-words.js';

const FACTS = [
  ...['queued=0', 'recved=12', 'sent=13', 'sid=0x10001a2b3c40000', 'lop=GETD'],
  ...['est=1700000000000', 'to=30000', 'lcxid=0x7', 'lzxid=0x100000003'],
  ...['lresp=1700000000100', 'llat=0', 'minlat=0', 'avglat=1', 'maxlat=9'],
];
const CONS = `
 /127.0.0.1:40001[1](${FACTS.join(',')})
 /0:0:0:0:0:0:0:1:40002[0](queued=0,recved=1,sent=0)
 /fe80:0:0:0:0:0:0:1:40003[1](queued=2,sid=0xff,lop=NA,est=1700000000001,to=6000)

`;
const OF_A_LEADER = `SessionTracker dump:
Global Session Sets (3)/(2):
0 expire at Thu Jan 01 00:00:10 UTC 1970:
1 expire at Thu Jan 01 00:00:12 UTC 1970:
\t0x10001a2b3c40000
1 expire at Thu Jan 01 00:00:14 UTC 1970:
\t0xff
ephemeral nodes dump:
Sessions with Ephemerals (1):
0x10001a2b3c40000:
\t/locks/a
\t/locks/b
Connections dump:
Connections Sets (1)/(1):
1 expire at Thu Jan 01 00:00:20 UTC 1970:
\tip: /127.0.0.1:40001 sessionId: 0x10001a2b3c40001
`;

it('connections with a session are told with their addresses and figures', () => {
  const [first, second, ...more] = connectionsIn(CONS);
  expect(more).toEqual([]);
  expect(first).toEqual({
    ...{ session: '0x10001a2b3c40000', address: '127.0.0.1:40001', timeoutMs: 30_000 },
    ...{ sinceMs: 1_700_000_000_000, received: 12, sent: 13, outstanding: 0 },
    ...{ lastOperation: 'GETD', averageLatencyMs: 1, maxLatencyMs: 9 },
  });
  expect(second).toMatchObject({ session: '0xff', address: '[fe80:0:0:0:0:0:0:1]:40003' });
  expect(second?.maxLatencyMs).toBe(null);
});

it('sessions are told by a leader without timeouts and by a follower with them', () => {
  const leader = sessionsIn(OF_A_LEADER);
  expect([...(leader?.timeouts ?? [])]).toEqual([
    ['0x10001a2b3c40000', null],
    ['0xff', null],
  ]);
  expect([...(leader?.ephemerals ?? [])]).toEqual([
    ['0x10001a2b3c40000', ['/locks/a', '/locks/b']],
  ]);
  const follower = 'SessionTracker dump:\nGlobal Sessions(1):\n0xff\t6000ms\n';
  expect([...(sessionsIn(follower)?.timeouts ?? [])]).toEqual([['0xff', 6000]]);
  expect(sessionsIn('dump is not executed because it is not in the whitelist.\n')).toBe(null);
});

it('watches are those below the line of the session', () => {
  const text = '0x1\n\t/a\n0xff\n\t/b\n\t/c\n0x2\n\t/d\n\n';
  expect(watchesIn(text, '0xff')).toEqual(['/b', '/c']);
  expect(watchesIn(text, '0x3')).toEqual([]);
});

it('a hostile answer is left out, not believed', () => {
  expect(connectionsIn(` /a:1[1](sid=0xzz)\n /:[1](\n${'('.repeat(1000)}`)).toEqual([]);
});
