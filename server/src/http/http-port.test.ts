/** The HTTP port against those who mean it no good, on real sockets. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpError, HttpPort, type Router } from './http-port.js';

const opened: HttpPort[] = [];
const sockets: Socket[] = [];
const faults: unknown[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map((port) => port.close()));
  faults.length = 0;
});

const PATH: Router = ({ path }) => ({ status: 200, type: 'text/plain', body: `you ask ${path}` });

async function port(router: Router = PATH): Promise<HttpPort> {
  const at = { host: '127.0.0.1', port: 0 };
  const http = new HttpPort(router, at, (error) => faults.push(error));
  await http.listen();
  opened.push(http);
  return http;
}

function socketTo(http: HttpPort, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port: http.port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** All that is answered until the other side closes. */
async function talk(http: HttpPort, text: string): Promise<string> {
  const socket = socketTo(http);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

it('answers GET and HEAD on a connection that stays', async () => {
  const http = await port();
  const close = 'GET /c?x=1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const text = await talk(
    http,
    `GET /a HTTP/1.1\r\nhost: a\r\n\r\nHEAD /b HTTP/1.1\r\nhost: a\r\n\r\n${close}`,
  );
  expect(text.match(/HTTP\/1.1 200 OK/g)?.length).toBe(3);
  expect(text).toContain('you ask /a');
  expect(text).not.toContain('you ask /b');
  expect(text).toMatch(/you ask \/c$/);
});

it('reads no body: a gigabyte that is announced is refused before a byte of it has come', async () => {
  const http = await port();
  const head = 'POST /a HTTP/1.1\r\nhost: a\r\n';
  expect(await talk(http, `${head}content-length: 1073741824\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 /);
  expect(await talk(http, `${head}transfer-encoding: chunked\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 /);
  const waiting = `${head}content-length: 9\r\nexpect: 100-continue\r\n\r\n`;
  expect(await talk(http, waiting)).toMatch(/^HTTP\/1.1 413 /);
});

it('refuses long heads and addresses, and what is no HTTP', async () => {
  const http = await port();
  const long = 'x'.repeat(20 << 10);
  expect(await talk(http, `GET / HTTP/1.1\r\nhost: a\r\nx: ${long}\r\n\r\n`)).toMatch(/ 431 /);
  const address = `GET /${'y'.repeat(5000)} HTTP/1.1\r\nhost: a\r\n\r\n`;
  expect(await talk(http, address)).toMatch(/^HTTP\/1.1 414 /);
  expect(await talk(http, 'ruok\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  expect(await talk(http, '\0\0\0\u002d'.padEnd(200, '\0'))).toMatch(/^(HTTP\/1.1 400 .*)?/);
  const proxied = 'GET http://other.example/ HTTP/1.1\r\nhost: a\r\n\r\n';
  expect(await talk(http, proxied)).toMatch(/^HTTP\/1.1 400 /);
  expect(await talk(http, 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n')).toBe('');
  const upgrade = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
  expect(await talk(http, upgrade)).not.toContain('101');
});

it('two heads that could be read in two ways are refused', async () => {
  const http = await port();
  const both = 'content-length: 5\r\ntransfer-encoding: chunked\r\n';
  expect(await talk(http, `GET / HTTP/1.1\r\nhost: a\r\n${both}\r\n`)).toMatch(/^HTTP\/1.1 4\d\d /);
});

it('a head with two Hosts is refused, also of equal ones, and so is one with none', async () => {
  const http = await port();
  const heads = [
    'GET /a HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n',
    'GET /a HTTP/1.1\r\nhost: a\r\naccept: host\r\nHOST: a\r\n\r\n',
    'GET /a HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n',
    'POST /a HTTP/1.1\r\nhost: a\r\nhost: b\r\nexpect: 100-continue\r\n\r\n',
    'GET /a HTTP/1.1\r\naccept: host\r\n\r\n',
  ];
  for (const head of heads) expect(await talk(http, head)).toMatch(/^HTTP\/1\.1 400 /);
  const one = 'GET /a HTTP/1.1\r\nhost: host\r\nconnection: close\r\n\r\n';
  expect(await talk(http, one)).toContain('you ask /a');
});

it('a head that comes drop by drop is given up, and others are answered meanwhile', async () => {
  const http = await port();
  const slow = talk(http, 'GET / HTTP/1.1\r\nhost: ');
  expect(await talk(http, 'GET /b HTTP/1.0\r\n\r\n')).toMatch(/you ask \/b$/);
  expect(await slow).toMatch(/^HTTP\/1.1 408 /);
}, 20_000);

it('holds 64 connections: one more takes the place of the longest idle one', async () => {
  const http = await port();
  const all = Array.from({ length: 300 }, () => socketTo(http));
  let closedCount = 0;
  for (const socket of all) socket.once('close', () => closedCount++);
  await expect.poll(() => closedCount, { timeout: 15_000 }).toBe(236);
  // Whoever holds all of them keeps nobody out.
  expect(await talk(http, 'GET /a HTTP/1.0\r\n\r\n')).toMatch(/you ask \/a$/);
  await expect.poll(() => closedCount, { timeout: 15_000 }).toBe(237);
}, 20_000);

it('closes none that is the only one of its address, while another address has many', async () => {
  const http = await port();
  const only = socketTo(http, '127.0.0.2');
  await once(only, 'connect');
  const all = Array.from({ length: 300 }, () => socketTo(http));
  let closedCount = 0;
  for (const socket of all) socket.once('close', () => closedCount++);
  await expect.poll(() => closedCount, { timeout: 15_000 }).toBe(237);
  only.write('GET /a HTTP/1.0\r\n\r\n');
  const [answer] = await once(only, 'data');
  expect(String(answer)).toMatch(/you ask \/a$/);
}, 20_000);

it('closes a connection that sends hundreds of requests ahead of their answers', async () => {
  let asked = 0;
  const http = await port(async () => {
    asked += 1;
    await new Promise(setImmediate);
    return { status: 200, type: 'text/plain', body: 'x'.repeat(1000) };
  });
  await talk(http, 'GET /a HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(1900));
  expect(asked).toBeLessThanOrEqual(8);
});

it('an answer in pieces is made as it is taken', async () => {
  let made = 0;
  const pieces = function* () {
    for (; made < 100_000; made++) yield 'x'.repeat(1000);
  };
  const http = await port(() => ({ status: 200, type: 'text/plain', body: pieces() }));
  const socket = socketTo(http);
  socket.write('GET / HTTP/1.0\r\n\r\n');
  await once(socket, 'readable');
  socket.pause();
  let before = -1;
  await expect
    .poll(
      () => {
        const isStill = made === before;
        before = made;
        return isStill;
      },
      { interval: 100 },
    )
    .toBe(true);
  expect(made).toBeLessThan(50_000);
});

it('says what a router refuses, and nothing of what went wrong in it', async () => {
  const http = await port(({ path }) => {
    if (path === '/no') throw new HttpError(404, 'There is no such thing.');
    throw new Error('secret');
  });
  expect(await talk(http, 'GET /no HTTP/1.1\r\nhost: a\r\n\r\n')).toMatch(
    /404[\s\S]*no such thing/,
  );
  const text = await talk(http, 'GET /bug HTTP/1.1\r\nhost: a\r\n\r\n');
  expect(text).toMatch(/^HTTP\/1.1 500 /);
  expect(text).not.toContain('secret');
  expect(faults.map(String)).toEqual(['Error: secret']);
});

it('a port in use is told by its code', async () => {
  const http = await port();
  const other = new HttpPort(PATH, { host: '127.0.0.1', port: http.port }, () => {});
  await expect(other.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

it('closes with clients on it', async () => {
  const http = await port();
  const socket = socketTo(http);
  await once(socket, 'connect');
  await http.close();
  await expect.poll(() => socket.closed).toBe(true);
});

describe('where bodies are taken', () => {
  const COUNTING: Router = async ({ path, readBody }) => {
    const body = path === '/unread' ? 'nothing' : `${(await readBody(10)).length} bytes`;
    return { status: 200, type: 'text/plain', body };
  };
  async function taking(router = COUNTING): Promise<HttpPort> {
    const at = { host: '127.0.0.1', port: 0, takesBodies: true };
    const http = new HttpPort(router, at, (error) => faults.push(error));
    await http.listen();
    opened.push(http);
    return http;
  }
  const HEAD = 'POST /a HTTP/1.1\r\nhost: a\r\n';

  it('reads one up to its bound, announced or in chunks, and gives leave to send it', async () => {
    const http = await taking();
    const end = 'connection: close\r\n';
    const whole = await talk(http, `${HEAD}${end}content-length: 10\r\n\r\n0123456789`);
    expect(whole).toMatch(/^HTTP\/1.1 200[\s\S]*10 bytes$/);
    const chunks = '4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n';
    const chunked = await talk(http, `${HEAD}${end}transfer-encoding: chunked\r\n\r\n${chunks}`);
    expect(chunked).toMatch(/6 bytes$/);
    const asked = `${HEAD}${end}content-length: 3\r\nexpect: 100-continue\r\n\r\nabc`;
    expect(await talk(http, asked)).toMatch(/^HTTP\/1.1 100 [\s\S]*3 bytes$/);
  });

  it('counts one whose client leaves before its end as no fault', async () => {
    const left: unknown[] = [];
    const router: Router = async ({ readBody }) => {
      const body = await readBody(10).catch((problem: unknown) => {
        left.push(problem);
        throw problem;
      });
      return { status: 200, type: 'text/plain', body };
    };
    const http = await taking(router);
    const socket = socketTo(http);
    socket.write(`${HEAD}content-length: 9\r\nexpect: 100-continue\r\n\r\nabc`);
    await once(socket, 'data');
    socket.destroy();
    await expect.poll(() => left.length).toBe(1);
    expect(left[0]).toMatchObject({ status: 400 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(faults).toEqual([]);
  });

  it('refuses one that is longer, and reads nothing more on that connection', async () => {
    const http = await taking();
    const gigabyte = `${HEAD}content-length: 1073741824\r\n\r\n`;
    expect(await talk(http, gigabyte)).toMatch(/^HTTP\/1.1 413 /);
    const waiting = `${HEAD}content-length: 99\r\nexpect: 100-continue\r\n\r\n`;
    expect(await talk(http, waiting)).toMatch(/^HTTP\/1.1 413 /);
    const endless = `${HEAD}transfer-encoding: chunked\r\n\r\n${'a\r\n0123456789\r\n'.repeat(9)}`;
    expect(await talk(http, endless)).toMatch(/^HTTP\/1.1 413 /);
    const unread = 'POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n\r\nabc';
    expect(await talk(http, unread)).toMatch(/nothing$/);
    expect(faults).toEqual([]);
  });

  it('gives up one that comes drop by drop', async () => {
    const http = await taking();
    const answer = await talk(http, `${HEAD}content-length: 5\r\n\r\nab`);
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  }, 20_000);
});

it('a request that waits behind another one is not handed on if its connection ends', async () => {
  let asked = 0;
  let ended = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const http = await port(({ signal }) => {
    asked += 1;
    const body = async function* (): AsyncGenerator<Uint8Array> {
      while (!signal.aborted) {
        yield Buffer.alloc(64 << 10);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    return { status: 200, type: 'text/plain', body: body(), close: async () => ended() };
  });
  const socket = socketTo(http);
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(3));
  await once(socket, 'data');
  socket.destroy();
  await end;
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toBe(1);
});

/** The bytes that the systems of both ends may keep of a connection on this machine. */
function keptBytesMax(): number {
  const largest = (name: string): number => {
    try {
      const [, , max] = readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8').trim().split(/\s+/);
      return Number(max);
    } catch {
      // Other systems than Linux keep less.
      return 8 << 20;
    }
  };
  return largest('tcp_wmem') + largest('tcp_rmem');
}

/** Reads an answer in chunks to its end, and says whether it had one. */
function endOf(socket: Socket): Promise<'whole' | 'closed'> {
  const last = '0\r\n\r\n';
  let tail = '';
  return new Promise((resolve) => {
    socket.on('close', () => resolve('closed'));
    socket.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.subarray(-last.length).toString('latin1')).slice(-last.length);
      if (tail === last) resolve('whole');
    });
  });
}

describe('answers that are not taken', () => {
  const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

  it('keep the next requests of their connection from being handed on', async () => {
    const large = Buffer.alloc(keptBytesMax() + (1 << 20));
    const asked: string[] = [];
    const http = await port(({ path }) => {
      asked.push(path);
      return { status: 200, type: 'text/plain', body: path === '/large' ? large : path };
    });
    const slow = socketTo(http);
    slow.write(`${GET('/large')}${GET('/a')}GET /b HTTP/1.0\r\n\r\n`);
    await once(slow, 'readable');
    // An answer of another port takes longer than handing on what was read before.
    expect(await talk(await port(), 'GET /other HTTP/1.0\r\n\r\n')).toMatch(/\/other$/);
    expect(asked).toEqual(['/large']);
    let end = '';
    slow.on('data', (chunk) => {
      end = String(chunk).slice(-1_000);
    });
    await once(slow, 'close');
    expect(asked).toEqual(['/large', '/a', '/b']);
    expect(end).toMatch(/\/b$/);
  });

  it('have a bound over all connections: then one that takes nothing is closed', async () => {
    const piece = Buffer.alloc(20 << 20);
    let isOver = false;
    // However much the system keeps of a connection, there is another piece to be taken.
    const endless = async function* () {
      while (!isOver) yield piece;
    };
    const http = await port(({ path }) => {
      return { status: 200, type: 'text/plain', body: path === '/endless' ? endless() : path };
    });
    const slow = [socketTo(http), socketTo(http)];
    for (const socket of slow) {
      socket.write(GET('/endless'));
      await once(socket, 'readable');
    }
    // Between two pieces a connection holds nothing, so the bound may not be reached at once.
    while (faults.length === 0) {
      expect(await talk(http, 'GET /quick HTTP/1.0\r\n\r\n')).toMatch(/\/quick$/);
    }
    expect(String(faults[0])).toContain('did not take 20971520 bytes');
    isOver = true;
    expect((await Promise.all(slow.map(endOf))).sort()).toEqual(['closed', 'whole']);
    expect(await talk(http, 'GET /quick HTTP/1.0\r\n\r\n')).toMatch(/\/quick$/);
    expect(faults).toHaveLength(1);
  });
});
