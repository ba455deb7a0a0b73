/**
 * Servers in this test answer in various ways; the tests check what is shown of them, and the exit
 * code.
 */
import { createServer, type Server } from 'node:net';
import { OperatorError } from '@rookery/server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { serversOf } from './named-servers.js';
import { parseStatus } from './server-status.js';
import { runStatus, type StatusCommand } from './status-command.js';

const SRVR = (mode: string): string =>
  [
    'Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25',
    'Latency min/avg/max: 0/1.25/20',
    'Received: 10',
    'Sent: 9',
    'Connections: 3',
    'Outstanding: 0',
    'Zxid: 0x10000002a',
    `Mode: ${mode}`,
    'Node count: 5',
    '',
  ].join('\n');

const output: string[] = [];
const servers: Server[] = [];

beforeEach(() => {
  output.length = 0;
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output.push(String(text));
    return true;
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Resolves with host:port. */
function serverThatSays(answer: () => string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer()));
  });
  servers.push(server);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
    });
  });
}

const LOOK: StatusCommand = { timeoutMs: 5000, waitSeconds: 0, json: false };

it('an ensemble that serves is shown with its leader, and the exit code is 0', async () => {
  const follower = await serverThatSays(() => SRVR('follower'));
  const leader = await serverThatSays(() => SRVR('leader'));
  expect(await runStatus({ ...LOOK, connect: `${follower},${leader}` })).toBe(0);
  const text = output.join('');
  expect(text).toMatch(new RegExp(`-\\s+${leader}\\s+leader\\s+0x10000002a\\s+3\\s+5\\s+1.25/20`));
  expect(text).toContain('All serve.\n');
});

it('a server without a quorum, and one that is not there, are shown with the reason', async () => {
  const waiting = await serverThatSays(
    () => 'This ZooKeeper instance is not currently serving requests\n',
  );
  const leader = await serverThatSays(() => SRVR('leader'));
  const connect = `${leader},${waiting},127.0.0.1:1`;
  expect(await runStatus({ ...LOOK, connect })).toBe(1);
  const text = output.join('');
  expect(text).toContain('it has no quorum and serves no clients');
  expect(text).toContain('ECONNREFUSED');
  expect(text).toContain(`${leader} leads; no service from ${waiting}, 127.0.0.1:1.`);
});

it('a member that says what it waits for is shown with that', async () => {
  const waits = 'no ensemble yet: 3 members must meet to found it, 2 have; not connected: 3';
  const waiting = await serverThatSays(
    () => `This ZooKeeper instance is not currently serving requests\nWaits: ${waits}\n`,
  );
  expect(await runStatus({ ...LOOK, connect: waiting })).toBe(1);
  expect(output.join('')).toContain(`it has no quorum and serves no clients: ${waits}\n`);
});

it('a member whose disk is full says so, and whether it has stepped out', async () => {
  const full = 'full, 57 MB free, the reserve is 78 MB';
  const says = (mode: string) => SRVR(mode).replace('Node count', `Disk: ${full}\nNode count`);
  const serving = await serverThatSays(() => says('follower'));
  const out = await serverThatSays(
    () =>
      `This ZooKeeper instance is not currently serving requests\nDisk: ${full}; leader 3 ...\n`,
  );
  const leader = await serverThatSays(() => SRVR('leader'));
  expect(await runStatus({ ...LOOK, connect: `${leader},${serving}` })).toBe(0);
  expect(output.join('')).toContain(`${leader} leads; the disk of ${serving} is full.`);
  expect(output.join('')).toContain(`1.25/20             ${full}`);
  output.length = 0;
  expect(await runStatus({ ...LOOK, connect: `${leader},${out}` })).toBe(1);
  expect(output.join('')).toContain(`it serves no clients, its disk is ${full}; leader 3 ...`);
  expect(output.join('')).toContain(`${leader} leads; no service from ${out}.`);
});

it('a follower whose leader was not named is no ensemble without a leader', async () => {
  const follower = await serverThatSays(() => SRVR('follower'));
  expect(await runStatus({ ...LOOK, connect: follower })).toBe(1);
  expect(output.join('')).toContain(
    `${follower} follows a leader that is not among the servers that answered: name all`,
  );
});

it('a member that serves reads alone, cut off from its quorum, does not count as serving', async () => {
  const leader = await serverThatSays(() => SRVR('leader'));
  const cutOff = await serverThatSays(() => SRVR('read-only'));
  expect(await runStatus({ ...LOOK, connect: `${leader},${cutOff}` })).toBe(1);
  const text = output.join('');
  expect(text).toContain(`${leader} leads; ${cutOff} serves only reads, cut off from the quorum.`);
});

it('it waits until all serve', async () => {
  let asked = 0;
  const slow = await serverThatSays(() => (++asked < 3 ? '' : SRVR('standalone')));
  expect(await runStatus({ ...LOOK, connect: slow, waitSeconds: 60, json: true })).toBe(0);
  expect(asked).toBe(3);
  const { serving, servers: shown } = JSON.parse(output.join(''));
  expect(serving).toBe(true);
  expect(shown[0].status).toMatchObject({ mode: 'standalone', znodes: 5, connections: 3 });
});

it('two servers that lead are not an ensemble that serves', async () => {
  const leaders = [0, 1].map(() => serverThatSays(() => SRVR('leader')));
  const connect = (await Promise.all(leaders)).join(',');
  expect(await runStatus({ ...LOOK, connect })).toBe(1);
  expect(output.join('')).toContain('2 servers say that they lead');
});

it('addresses are parsed, and a mistake in one is reported', () => {
  const of = (connect: string) => serversOf({ connect });
  expect(of('zk1,[::1]:2182')).toEqual([
    { id: null, host: 'zk1', port: 2181, address: 'zk1:2181' },
    { id: null, host: '::1', port: 2182, address: '[::1]:2182' },
  ]);
  // All forms that the client takes, and none other.
  expect(
    of(' zk1, zk1:2181,,::2,[fe80::1%eth0]:99/app').map(({ host, port }) => [host, port]),
  ).toEqual([
    ['zk1', 2181],
    ['::2', 2181],
    ['fe80::1%eth0', 99],
  ]);
  for (const wrong of ['zk1:port', 'zk1:0', 'zk1:99999', '', 'zk1/a//b']) {
    expect(() => of(wrong)).toThrow(OperatorError);
  }
  expect(() => of('zk1:port')).toThrow('bad port "port": "zk1:port".');
  expect(() => serversOf({})).toThrow('Give --config, or --connect');
  expect(parseStatus('imok')).toBe(null);
});
