/** Which records carry what was written, as somebody between the two sides sees them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { TestAuthority } from '../simulated/security/certificates.js';
import { TlsRecords } from './tcp.js';

const APPLICATION_DATA = 23;
const HEAD_BYTES = 5;
/** What TLS 1.3 with AES-GCM adds to the bytes of a record: the kind and a tag. */
const ADDED_BYTES = 17;

let directory = '';
let authority: TestAuthority;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rookery-tls-records-'));
  authority = new TestAuthority(directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function listening(server: Server): Promise<number> {
  onTestFinished(() => {
    server.close();
  });
  return new Promise((resolve) => {
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** The sizes of records with data that pass through it from the server. */
function recordSizes(bytes: Buffer): number[] {
  const sizes: number[] = [];
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at] === APPLICATION_DATA) sizes.push(length - ADDED_BYTES);
    at += HEAD_BYTES + length;
  }
  return sizes;
}

it('the last frame of each write has a record of its own, also while writes wait', async () => {
  const { cert, key } = authority.server();
  const accepted: TLSSocket[] = [];
  const server = createTlsServer({ cert, key }, (socket) => {
    socket.on('error', () => undefined);
    accepted.push(socket);
  });
  const serverPort = await listening(server);
  const passed: Buffer[] = [];
  const proxy = createServer((near) => {
    const far = connectTcp({ port: serverPort, host: '127.0.0.1' });
    for (const socket of [near, far]) socket.on('error', () => undefined);
    far.on('data', (chunk) => passed.push(chunk));
    near.pipe(far).pipe(near);
  });
  const client = connect({ port: await listening(proxy), host: '127.0.0.1', ca: authority.ca });
  onTestFinished(() => {
    client.destroy();
  });
  let received = 0;
  client.on('data', (chunk) => {
    received += chunk.length;
  });
  await expect.poll(() => accepted.length).toBe(1);
  const [socket] = accepted;
  if (socket === undefined) throw new Error('nobody was accepted');
  const records = new TlsRecords(socket);
  records.write(Buffer.alloc(730), 600);
  records.write(Buffer.alloc(50), 0);
  records.write(Buffer.alloc(90), 80);
  records.write(Buffer.alloc(40_000), 39_990);
  await expect.poll(() => received).toBe(730 + 50 + 90 + 40_000);
  const sizes = [600, 130, 50, 80, 10, 16_384, 16_384, 39_990 - 2 * 16_384, 10];
  expect(recordSizes(Buffer.concat(passed)).slice(-sizes.length)).toEqual(sizes);
});
