/** What the gateway offers of servers that answer all four-letter words, `srvr` alone, or none. */
import { createServer, type Socket } from 'node:net';
import { AdminAccess, ConsoleFiles, HttpError, type HttpRequest } from '@rookery/server/http';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { addressesOf } from '../command/addresses.js';
import { ClientPool } from './client-pool.js';
import { gatewayRouter } from './gateway.js';
import { ServerWords } from './server-words.js';

const KEY = 'the-key';
const SRVR = 'Zookeeper version: 3.8.0\nLatency min/avg/max: 0/0.5/9\nZxid: 0x7\nMode: follower\n';
const CONS =
  ' /10.0.0.7:5[1](queued=0,recved=1,sent=1,sid=0x2000000000000005,lop=PING,to=4000)\n' +
  ' /10.0.0.8:6[1](queued=0,recved=1,sent=1,sid=0x3,lop=PING,to=4000)\n';
const DUMP = 'Sessions with Ephemerals (1):\n0x3:\n\t/mine\n';
const REFUSED = 'it is not executed because it is not in the whitelist.\n';

/** A server that answers these words, and refuses all others. */
async function useServer(words: Readonly<Record<string, string>>): Promise<number> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (word) => socket.end(words[String(word)] ?? REFUSED));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function useGateway(ports: readonly number[]) {
  const words = new ServerWords(addressesOf(ports.map((port) => `127.0.0.1:${port}`).join(',')));
  const nowMs = () => 0;
  const router = gatewayRouter({
    words,
    key: KEY,
    mayWrite: true,
    logger: pino({ level: 'silent' }),
    pool: new ClientPool(() => Promise.reject(new HttpError(503, 'Nobody serves.'))),
    files: new ConsoleFiles(null, nowMs),
    access: new AdminAccess({ users: [], readers: [], origins: [], hosts: [] }),
  });
  const ask = async (path: string) => {
    const [plain = '', query = ''] = path.split('?');
    const request: HttpRequest = {
      method: 'GET',
      path: plain,
      query: new URLSearchParams(query),
      remoteAddress: '',
      headers: { host: '127.0.0.1:1' },
      signal: new AbortController().signal,
      readBody: () => Promise.resolve(new Uint8Array(0)),
    };
    const { status, body, headers = {} } = await router(request);
    const text = String(body);
    const json: Record<string, unknown> = text.startsWith('{') ? Object(JSON.parse(text)) : {};
    return { status, json, headers };
  };
  return { words, ask };
}

it('lists sessions by their ids, with who is asked for them and what they own', async () => {
  const one = await useServer({ srvr: SRVR, cons: CONS, conf: 'serverId=7\n' });
  const two = await useServer({ srvr: SRVR.replace('follower', 'leader'), dump: DUMP });
  const { words, ask } = useGateway([one, two]);
  await words.connected();
  const paths = Object.keys(Object((await ask(`/${KEY}/api/v1`)).json['paths']));
  expect(paths).toContain('/api/v1/sessions');
  const { json } = await ask(`/${KEY}/api/v1/sessions?limit=1`);
  expect(json).toMatchObject({ count: 2, next: '0x3' });
  // Without an id of each, they are counted.
  expect(json['sessions']).toMatchObject([
    { session: '0x3', member: 1, address: '10.0.0.8:6', timeoutMs: 4000, ephemerals: 1 },
  ]);
  const rest = await ask(`/${KEY}/api/v1/sessions?after=0x3`);
  expect(rest.json['sessions']).toMatchObject([{ session: '0x2000000000000005', ephemerals: 0 }]);
  const own = await ask(`/${KEY}/api/v1/sessions/0x3`);
  expect(own.json).toMatchObject({ ephemeralPaths: ['/mine'], watched: null, identities: null });
  expect((await ask(`/${KEY}/api/v1/sessions/0x9`)).status).toBe(404);
  const { members } = (await ask(`/${KEY}/api/v1/members`)).json;
  expect(members).toMatchObject([
    { id: 1, role: 'following', leader: 2, latencyMs: { average: 0.5, max: 9 }, watches: null },
    { id: 2, role: 'leading', leader: 2 },
  ]);
});

it('offers no sessions where no server tells of any, and shows who does not answer', async () => {
  const port = await useServer({ srvr: SRVR });
  const { words, ask } = useGateway([port, 1]);
  await words.connected();
  const paths = Object.keys(Object((await ask(`/${KEY}/api/v1`)).json['paths']));
  expect(paths).toContain('/api/v1/members');
  expect(paths.filter((path) => path.includes('sessions'))).toEqual([]);
  expect((await ask(`/${KEY}/api/v1/sessions`)).status).toBe(404);
  expect(await words.addresses()).toEqual(new Map());
  const { members } = (await ask(`/${KEY}/api/v1/members`)).json;
  expect(members).toMatchObject([{ answers: true, leader: null }, { answers: false }]);
  const problem = await ask(`/${KEY}/api/v1/node?path=/`);
  expect(problem.json).toMatchObject({ status: 503, detail: 'Nobody serves.' });
});

it('has nothing but below its key, and leads from there to the console', async () => {
  const { ask } = useGateway([1]);
  for (const path of ['/', '/console/', '/api/v1', '/the-ke/api/v1', '/the-key2/api/v1', '//']) {
    await expect(ask(path), path).rejects.toMatchObject({ status: 404 });
  }
  for (const path of [`/${KEY}`, `/${KEY}/`]) {
    expect((await ask(path)).headers).toEqual({ location: `/${KEY}/console/` });
  }
  await expect(ask(`/${KEY}/metrics`)).rejects.toMatchObject({ status: 404 });
  await expect(ask(`/${KEY}/console/`)).rejects.toThrow('not installed');
});
