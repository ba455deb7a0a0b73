/** Answers of ZooKeeper 3.8.0 and of Rookery to four-letter words, and texts that are no answer. */
import { expect, it } from 'vitest';
import { connectionsIn, ephemeralsIn, linesOf } from './word-answers.js';

const ASKING = ' /127.0.0.1:50012[0](queued=0,recved=1,sent=0)';
const CONS =
  ' /10.0.0.7:53212[1](queued=2,recved=30,sent=31,sid=0x100003204ff0004,lop=PING,est=1690000000000,' +
  'to=30000,lcxid=0x2,lzxid=0xffffffffffffffff,lresp=1,llat=0,minlat=0,avglat=1,maxlat=9)';
const CONS_6 = CONS.replace('10.0.0.7', '[0:0:0:0:0:0:0:1]').replace('0x1000', '0x2000');
const REFUSED = 'cons is not executed because it is not in the whitelist.';

it('knows connections with sessions, of IPv4 and IPv6', () => {
  const found = connectionsIn(`${ASKING}\n${CONS}\n${CONS_6}\n\n`);
  expect(found).toMatchObject([
    {
      session: '0x100003204ff0004',
      address: '10.0.0.7:53212',
      timeoutMs: 30_000,
      received: 30,
      sent: 31,
      outstanding: 2,
      lastOperation: 'PING',
      maxLatencyMs: 9,
    },
    { session: '0x200003204ff0004', address: '[0:0:0:0:0:0:0:1]:53212' },
  ]);
});

it('tells an answer without sessions from none', () => {
  expect(connectionsIn(`${ASKING}\n`)).toEqual([]);
  for (const text of ['', REFUSED, 'This ZooKeeper instance is not currently serving requests']) {
    expect(connectionsIn(text), text).toBeNull();
    expect(ephemeralsIn(text), text).toBeNull();
  }
});

it('knows the ephemerals of each session, whatever their names', () => {
  const dump = [
    'SessionTracker dump:',
    'Global Sessions(1):',
    '0x100003204ff0004\t30000ms',
    'ephemeral nodes dump:',
    'Sessions with Ephemerals (2):',
    '0x100003204ff0004:',
    '\t/locks/a b',
    '\t/locks/0x5:',
    '0x0200003204ff0004:',
    '\t/x',
    'Connections dump:',
  ].join('\n');
  expect([...(ephemeralsIn(dump) ?? [])]).toEqual([
    ['0x100003204ff0004', ['/locks/a b', '/locks/0x5:']],
    ['0x200003204ff0004', ['/x']],
  ]);
});

it('reads names and values of lines', () => {
  expect([...(linesOf('Mode: follower\nZxid: 0x1\n', ':') ?? [])]).toEqual([
    ...[
      ['Mode', 'follower'],
      ['Zxid', '0x1'],
    ],
  ]);
  expect(linesOf('', ':')).toBeNull();
});
