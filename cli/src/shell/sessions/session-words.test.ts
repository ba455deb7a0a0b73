/** Answers of both products to the words that tell of sessions. */
import { expect, it } from 'vitest';
import { sessionsIn, watchesIn } from './from-words.js';

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

const NO_EPHEMERALS = 'ephemeral nodes dump:\nSessions with Ephemerals (0):\n';

it('sessions are told by a leader without timeouts and by a follower with them', () => {
  const leader = sessionsIn(OF_A_LEADER);
  expect([...(leader?.timeouts ?? [])]).toEqual([
    ['0x10001a2b3c40000', null],
    ['0xff', null],
  ]);
  expect([...(leader?.ephemerals ?? [])]).toEqual([
    ['0x10001a2b3c40000', ['/locks/a', '/locks/b']],
  ]);
  const follower = `SessionTracker dump:\nGlobal Sessions(1):\n0xff\t6000ms\n${NO_EPHEMERALS}`;
  expect([...(sessionsIn(follower)?.timeouts ?? [])]).toEqual([['0xff', 6000]]);
  expect(sessionsIn('dump is not executed because it is not in the whitelist.\n')).toBe(null);
});

it('watches are those below the line of the session', () => {
  const text = '0x1\n\t/a\n0xff\n\t/b\n\t/c\n0x2\n\t/d\n\n';
  expect(watchesIn(text, '0xff')).toEqual(['/b', '/c']);
  expect(watchesIn(text, '0x3')).toEqual([]);
});
