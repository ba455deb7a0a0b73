/**
 * Goal: where clients and members have certificates, and clients log in by SASL, whoever has
 * neither learns nothing and changes nothing. Method: handshakes of TLS without a certificate, with
 * one of another authority, and malformed ones, at the plain port, the secure one and the one for
 * members; tokens of SASL that prove nothing; a client that says it is a member; every route of the
 * REST API, as an answer and as a stream. What else a stranger may try is in
 * clients.test.ts and members.test.ts.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { encode, OpCode, PathWatchRequest, SaslRequest } from '@rookery/protocol';
import { encodePeerFrame } from '@rookery/protocol/peer';
import { expect, it, onTestFinished } from 'vitest';
import { newTestDirectory } from '../../harness/ensemble.js';
import { Hardened } from '../../harness/hardened.js';
import { http } from '../../harness/plain-http.js';
import { productUnderTest, REPOSITORY } from '../../harness/product.js';
import { RawConnection } from '../../harness/raw-connection.js';
import { testSeed } from '../../harness/test-seed.js';
import { within } from '../../harness/wait.js';
import { connectRequest } from '../../harness/wire-client.js';
import { TestAuthority, type TestCertificate } from '../../simulated.js';
import { Random } from '../../simulation/random.js';

const TEST_DEADLINE_MS = 120_000;
const DEADLINE_MS = 30_000;
/** What a member says of a handshake that fails is an alert, and of a claim a sentence. */
const ALERT_BYTES_MAX = 64;
const SENTENCE_BYTES_MAX = 256;
const CLAIM = encodePeerFrame({ kind: 'claim', id: 2, to: 1, nonce: Buffer.alloc(32, 7) });

async function start() {
  const directory = newTestDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const { certFile, keyFile } = authority.server();
  const files = { certFile, keyFile, caFile: authority.caFile };
  const usersFile = join(directory, 'users');
  writeFileSync(usersFile, 'admin:the-password-of-the-admin\n', { mode: 0o600 });
  const settings = {
    tls: { ...files, clientAuth: 'need' },
    peerAuth: { tls: files },
    sasl: { usersFile },
    superIdentities: ['sasl:admin'],
  };
  const hardened = await Hardened.start(settings, { secure: true });
  const client = authority.client();
  const foreign = new TestAuthority(directory, 'foreign').server('impostor');
  return { hardened, client, foreign };
}

/** Everything that the member says after these bytes, until it closes the connection. */
function answerTo(socket: Socket, bytes: Uint8Array): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const said = new Promise<Buffer>((resolve) => {
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => resolve(Buffer.concat(chunks)));
    socket.write(bytes);
  });
  return within('the member closes the connection', DEADLINE_MS, said);
}

function overTls(port: number, proof: ConnectionOptions, bytes: Uint8Array): Promise<Buffer> {
  const options = { host: '127.0.0.1', port, rejectUnauthorized: false, ...proof };
  return answerTo(connectTls(options), bytes);
}

function overTcp(port: number, bytes: Uint8Array): Promise<Buffer> {
  return answerTo(connectTcp({ host: '127.0.0.1', port }), bytes);
}

/** Handshakes of TLS that are none, as they begin. */
function malformed(random: Random): readonly Buffer[] {
  const heads = ['1603010200010001fc0303', '160301ffff', '16030100050100000100', '1603030001ff'];
  return heads.map((head) => Buffer.concat([Buffer.from(head, 'hex'), random.bytes(600)]));
}

function proofsOf({ cert, key }: TestCertificate): readonly ConnectionOptions[] {
  const versions = ['TLSv1.2', 'TLSv1.3'] as const;
  return versions.flatMap((maxVersion) => [{ maxVersion }, { maxVersion, cert, key }]);
}

/** A session as anybody gets one, these tokens, a request for a secret; all that is answered. */
async function answersTo(port: number, tokens: readonly (Uint8Array | null)[]) {
  const connection = await RawConnection.open(port);
  const send = (type: number, body: Uint8Array) => {
    const header = Buffer.alloc(8);
    header.writeInt32BE(1);
    header.writeInt32BE(type, 4);
    connection.sendFrame(Buffer.concat([header, body]));
  };
  try {
    connection.send(connectRequest({ timeoutMs: 20_000 }));
    await connection.nextFrame();
    for (const token of tokens) send(OpCode.sasl, encode(SaslRequest, { token }));
    send(OpCode.getData, encode(PathWatchRequest, { path: '/vault', watch: true }));
    send(OpCode.closeSession, new Uint8Array(0));
    const answers: Uint8Array[] = [];
    for (;;) {
      const frame = await connection.nextFrame();
      if (frame === undefined) return answers;
      answers.push(frame);
    }
  } finally {
    connection.destroy();
  }
}

it.skipIf(productUnderTest().name === 'apache')(
  'a stranger at ports with TLS, SASL and passwords gets refusals, and changes nothing',
  async () => {
    const random = new Random(testSeed());
    const { hardened, client, foreign } = await start();
    const before = await hardened.fingerprint();
    const leadership = await hardened.leadership();
    const marks = hardened.logMarks();
    const session = connectRequest({ timeoutMs: 4_000 });
    for (const { clientPort, secureClientPort, peerPort } of hardened.ensemble.members) {
      for (const port of [clientPort, secureClientPort, peerPort]) {
        const bytes = port === peerPort ? CLAIM : session;
        for (const proof of proofsOf(foreign)) {
          expect((await overTls(port, proof, bytes)).length).toBe(0);
        }
        for (const handshake of malformed(random)) {
          const said = await overTcp(port, handshake);
          expect(said.length).toBeLessThanOrEqual(ALERT_BYTES_MAX);
        }
      }
      for (const port of [secureClientPort, peerPort]) {
        for (const bytes of [session, CLAIM, Buffer.from('stat\r\n'), random.bytes(500)]) {
          const said = await overTcp(port, bytes);
          expect(said.length).toBeLessThanOrEqual(ALERT_BYTES_MAX);
        }
      }
      // Who has a certificate of the authority, as a client, is no member by that.
      const { cert, key } = client;
      const said = await overTls(peerPort, { cert, key }, CLAIM);
      expect(said.length).toBeLessThanOrEqual(SENTENCE_BYTES_MAX);
      hardened.toldNothing('a client that says it is a member', said);
    }
    const response = (user: string) =>
      Buffer.from(
        `charset=utf-8,username="${user}",realm="zk-sasl-md5",nonce="x",nc=00000001,` +
          `cnonce="y",digest-uri="zookeeper/zk-sasl-md5",response=${'0'.repeat(32)},qop=auth`,
      );
    const attempts = [
      ...[[], [null], [null, null], [null, response('admin')], [null, response('nobody')]],
      ...[[response('admin')], [null, random.bytes(300)], [null, Buffer.alloc(100_000, '=')]],
      [null, response('admin'), null, response('admin')],
    ];
    for (const [index, tokens] of attempts.entries()) {
      const port = hardened.ensemble.ports[index % 3] ?? 0;
      for (const answer of await answersTo(port, tokens)) {
        hardened.keptSecret(`attempt ${index}`, answer);
      }
    }
    await givesNothingOfTheApi(hardened);
    hardened.staysAsItWas(marks);
    expect(await hardened.leadership()).toBe(leadership);
    expect(await hardened.fingerprint()).toBe(before);
    await hardened.change();
  },
  TEST_DEADLINE_MS,
);

/** The routes that are described, so that each is tried that comes to be. */
function describedRoutes(): readonly string[] {
  const file = join(REPOSITORY, 'docs/operations/openapi.json');
  const { paths } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.keys(paths).map((path) => `${path.replace(/{\w+}/g, '1')}?path=/vault`);
}

/** Neither an answer nor a stream that goes on. */
async function givesNothingOfTheApi(hardened: Hardened): Promise<void> {
  const { adminPort } = hardened.ensemble.member(1);
  const routes = describedRoutes();
  expect(routes.length).toBeGreaterThan(10);
  const claims = { 'x-rookery-auth': Buffer.from('super:guessed').toString('base64') };
  for (const headers of [{}, claims, { authorization: 'digest ops:guessed', ...claims }]) {
    for (const path of routes) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
        const asked = { accept: 'text/event-stream', ...headers };
        const { status, text } = await http(adminPort, method, path, asked);
        // 429: so many wrong passwords came that none of that user is looked at for a while.
        expect([401, 429], `${method} ${path}`).toContain(status);
        hardened.toldNothing(`${method} ${path}`, text);
      }
    }
  }
}
