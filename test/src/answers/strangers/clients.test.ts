/**
 * Goal: whoever reaches the client port, the metrics port or the admin port of a hardened ensemble,
 * and is nobody, learns what SECURITY.md says and changes nothing. Method: every four-letter word,
 * every operation with bodies that fit and bodies that do not, malformed frames, and every route
 * with every method and wrong passwords, each at every member.
 */
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import {
  AddWatchRequest,
  CreateRequest,
  CreateTtlRequest,
  JuteWriter,
  MultiRequest,
  OpCode,
  PathRequest,
  PathVersionRequest,
  PathWatchRequest,
  Perms,
  RequestHeader,
  SetAclRequest,
  SetDataRequest,
  SetWatches2Request,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import {
  FOUR_LETTER_WORDS,
  isForStrangers,
  isFourLetterWord,
} from '../../../../server/src/config/four-letter-words.js';
import { fourLetterWord } from '../../harness/four-letter.js';
import { ADMIN, Hardened } from '../../harness/hardened.js';
import { type HttpAnswer, http } from '../../harness/plain-http.js';
import { productUnderTest } from '../../harness/product.js';
import { RawConnection } from '../../harness/raw-connection.js';
import { testSeed } from '../../harness/test-seed.js';
import { within } from '../../harness/wait.js';
import { connectRequest } from '../../harness/wire-client.js';
import { Random } from '../../simulation/random.js';

const TEST_DEADLINE_MS = 240_000;
const DEADLINE_MS = 30_000;
/** The four-letter words, and names that are none, such as commands of ZooKeeper's admin server. */
const WORDS = [...FOUR_LETTER_WORDS, 'kill', 'lead', 'rqpr', 'icfg', 'orst', 'obsr'];
const PATHS = ['/', '/vault', '/vault/guessed', '/zookeeper', '/zookeeper/config'];
const OPCODES = [
  ...Array.from({ length: 110 }, (_, code) => code),
  10_001,
  -1,
  -10,
  -11,
  999,
  2 ** 31 - 1,
];

const acl = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];
const data = Buffer.from('changed');

/** Bodies of operations on a path, each as some operation expects it. */
function bodiesFor(path: string, random: Random): Uint8Array[] {
  const bodies: ((writer: JuteWriter) => void)[] = [
    () => undefined,
    (writer) => PathRequest.write(writer, { path }),
    (writer) => PathWatchRequest.write(writer, { path, watch: true }),
    (writer) => SetDataRequest.write(writer, { path, data, version: -1 }),
    (writer) => PathVersionRequest.write(writer, { path, version: -1 }),
    (writer) => SetAclRequest.write(writer, { path, acl, version: -1 }),
    (writer) => CreateRequest.write(writer, { path: `${path}/new`, data, acl, flags: 0 }),
    (writer) =>
      CreateTtlRequest.write(writer, { path: `${path}/ttl`, data, acl, flags: 5, ttlMs: 1 }),
    (writer) => AddWatchRequest.write(writer, { path, mode: 1 }),
    (writer) =>
      MultiRequest.write(writer, {
        ops: [{ opcode: OpCode.setData, request: { path, data, version: -1 } }],
      }),
    (writer) =>
      SetWatches2Request.write(writer, {
        relativeZxid: 0,
        dataWatches: [path],
        existWatches: [path],
        childWatches: [path],
        persistentWatches: [path],
        persistentRecursiveWatches: [path],
      }),
  ];
  const noise = random.bytes(Math.ceil(random.between(1, 200)));
  return [...bodies.map(written), noise];
}

function written(write: (writer: JuteWriter) => void): Uint8Array {
  const writer = new JuteWriter();
  writer.beginFrame();
  write(writer);
  writer.endFrame();
  return Uint8Array.from(writer.take().subarray(4));
}

function frameOf(xid: number, type: number, body: Uint8Array): Uint8Array {
  const header = written((writer) => RequestHeader.write(writer, { xid, type }));
  return Buffer.concat([header, body]);
}

/**
 * Opens a session, as anybody may, sends the operation and then closeSession. Resolves with all
 * frames that are answered.
 */
async function ask(port: number, opcode: number, body: Uint8Array): Promise<Uint8Array[]> {
  const connection = await RawConnection.open(port);
  try {
    connection.send(connectRequest({ timeoutMs: 4_000 }));
    await connection.nextFrame();
    connection.sendFrame(frameOf(1, opcode, body));
    connection.sendFrame(frameOf(2, OpCode.closeSession, new Uint8Array(0)));
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
  'a stranger at the client port learns nothing of what its ACLs keep, and changes nothing',
  async () => {
    const random = new Random(testSeed());
    const hardened = await Hardened.start();
    const before = await hardened.fingerprint();
    const leadership = await hardened.leadership();
    const marks = hardened.logMarks();
    const ports = hardened.ensemble.ports;

    for (const port of ports) {
      for (const word of WORDS) {
        const answer = await fourLetterWord(port, word);
        hardened.keptSecret(word, answer);
        expect(answer, word).not.toContain('/vault');
        const isRefused = isFourLetterWord(word) && !isForStrangers(word);
        if (isRefused) expect(answer).toMatch(/not in the whitelist/);
      }
    }
    let asked = 0;
    for (const opcode of OPCODES) {
      const bodies = PATHS.flatMap((path) => bodiesFor(path, random));
      const answers = await Promise.all(
        bodies.map((body, index) => ask(ports[index % ports.length] ?? 0, opcode, body)),
      );
      asked += bodies.length;
      for (const answer of answers.flat()) hardened.keptSecret(`opcode ${opcode}`, answer);
    }
    expect(asked).toBeGreaterThan(6_000);
    const heads = ['7fffffff', 'ffffffff', '00100000', '00000000', '16030100c80100', '47455420'];
    const garbage = [
      ...heads.map((text) => Buffer.from(text, 'hex')),
      ...Array.from({ length: 100 }, () => random.bytes(Math.ceil(random.between(1, 900)))),
    ];
    const said = await Promise.all(
      garbage.map((bytes, index) => tell(ports[index % ports.length] ?? 0, bytes)),
    );
    for (const answer of said) hardened.keptSecret('garbage', answer);

    hardened.staysAsItWas(marks);
    expect(await hardened.leadership()).toBe(leadership);
    expect(await hardened.fingerprint()).toBe(before);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'CVE-2024-23944: a stranger that watches everything hears nothing of what it may not read',
  async () => {
    const hardened = await Hardened.start();
    const connections = await Promise.all(
      hardened.ensemble.ports.map(async (port) => {
        const connection = await RawConnection.open(port);
        connection.send(connectRequest({ timeoutMs: 20_000 }));
        await connection.nextFrame();
        let xid = 0;
        const send = (opcode: number, body: Uint8Array) => {
          xid += 1;
          connection.sendFrame(frameOf(xid, opcode, body));
        };
        for (const path of PATHS.slice(0, 3)) {
          const watch = written((w) => PathWatchRequest.write(w, { path, watch: true }));
          for (const opcode of [OpCode.exists, OpCode.getData, OpCode.getChildren2]) {
            send(opcode, watch);
          }
          for (const mode of [0, 1]) {
            send(
              OpCode.addWatch,
              written((w) => AddWatchRequest.write(w, { path, mode })),
            );
          }
        }
        for (let answer = 0; answer < xid; answer++) await connection.nextFrame();
        return { connection, xid };
      }),
    );
    for (let change = 0; change < 5; change++) await hardened.change();
    for (const { connection, xid } of connections) {
      // What is answered to a sync comes after every event of what was applied before.
      const sync = written((writer) => PathRequest.write(writer, { path: '/' }));
      connection.sendFrame(frameOf(xid + 1, OpCode.sync, sync));
      const frame = await connection.nextFrame();
      expect(Buffer.from(frame ?? []).readInt32BE(0)).toBe(xid + 1);
      connection.destroy();
    }
  },
  TEST_DEADLINE_MS,
);

const COMMANDS = [
  ...[
    'configuration',
    'connections',
    'connection_stat_reset',
    'dirs',
    'dump',
    'environment',
    'hash',
  ],
  ...['initial_configuration', 'is_read_only', 'last_snapshot', 'leader', 'monitor', 'observers'],
  ...['ruok', 'server_stats', 'stat_reset', 'stats', 'system_properties', 'voting_view', 'watches'],
  ...['watch_summary', 'watches_by_path', 'zabstate', 'set_trace_mask?traceMask=1', 'snapshot'],
  ...['restore', 'rest', 'snap', 'nosuch'],
];
const ROUTES = [
  ...['/', '/metrics', '/commands', '/commands/', '/api/v1/events', '/api/v1/backup', '/nothing'],
  ...COMMANDS.filter((name) => name !== 'ruok').map((name) => `/commands/${name}`),
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'];
const PROBES = ['/livez', '/readyz'];
const PROBES_OF_ADMINS = [...PROBES, '/commands/ruok'];
const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;
const WRONG: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'no password': {},
  'a wrong password': { authorization: 'digest ops:guessed' },
  'another user': { authorization: basic('root:the-password-of-the-admin-port') },
  'CVE-2024-51504: the address of a proxy': {
    'x-forwarded-for': '127.0.0.1',
    'x-real-ip': '127.0.0.1',
    forwarded: 'for=127.0.0.1',
    'x-client-ip': '127.0.0.1',
  },
};

it.skipIf(productUnderTest().name === 'apache')(
  'CVE-2024-51504, CVE-2025-58457: no route of the admin port is for who has no password of it',
  async () => {
    const hardened = await Hardened.start();
    const before = await hardened.fingerprint();
    for (const { adminPort } of hardened.ensemble.members) {
      await givesFilesOnly(hardened, adminPort);
      for (const [who, headers] of Object.entries(WRONG)) {
        for (const path of ROUTES) {
          for (const method of METHODS) {
            const answer = await http(adminPort, method, path, headers);
            const what = `${method} ${path} with ${who}`;
            // 429: so many wrong passwords came from here that none is looked at for a second.
            expect([401, 404, 405, 429, 501], what).toContain(answer.status);
            expect(answer.text.length, what).toBeLessThan(300);
            hardened.toldNothing(what, answer.text);
          }
        }
      }
      for (const path of PROBES_OF_ADMINS) {
        hardened.toldNothing(path, (await http(adminPort, 'GET', path)).text);
      }
    }
    expect(await hardened.fingerprint()).toBe(before);
    // The same routes are open to who has it, so the refusals above are not for another reason.
    const [member] = hardened.ensemble.members;
    const granted = await within(
      'the admin port looks at passwords again',
      DEADLINE_MS,
      untilGranted(member?.adminPort ?? 0),
    );
    expect(granted.text).toContain('quorum_size');
  },
  TEST_DEADLINE_MS,
);

/** The console is the same for everybody, and what is beside its files is not there. */
async function givesFilesOnly(hardened: Hardened, port: number): Promise<void> {
  const page = await http(port, 'GET', '/console/');
  hardened.toldNothing('/console/', page.text);
  const known = { authorization: basic(ADMIN) };
  expect(page).toEqual(await http(port, 'GET', '/console/', known));
  const outside = [
    '../package.json',
    '..%2fpackage.json',
    'assets/../../index.js',
    '.',
    'x',
    '%00',
  ];
  for (const name of outside) {
    const path = `/console/${name}`;
    const answer = await http(port, 'GET', path);
    expect([answer.status, answer.text.length < 100], path).toEqual([404, true]);
  }
  for (const method of METHODS.slice(2)) {
    expect((await http(port, method, '/console/')).status, method).toBe(405);
  }
}

/** Past its limit the port looks at no password for a second. */
async function untilGranted(port: number): Promise<HttpAnswer> {
  for (;;) {
    const answer = await http(port, 'GET', '/metrics', { authorization: basic(ADMIN) });
    if (answer.status === 200) return answer;
    expect(answer.status).toBe(429);
  }
}

it.skipIf(productUnderTest().name === 'apache')(
  'the metrics port shows a stranger numbers, no path and no secret, and changes nothing',
  async () => {
    const hardened = await Hardened.start();
    for (const { metricsPort } of hardened.ensemble.members) {
      for (const path of [...ROUTES, ...PROBES]) {
        for (const method of METHODS) {
          const { status, text } = await http(metricsPort, method, path);
          const what = `${method} ${path}`;
          hardened.keptSecret(what, text);
          expect(text, what).not.toContain('/vault');
          const isShown =
            ['/metrics', ...PROBES].includes(path) && ['GET', 'HEAD'].includes(method);
          expect(isShown ? [200] : [404, 405], what).toContain(status);
        }
      }
    }
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'CVE-2026-24308: no secret of a file or a setting is in a log, an answer or the process list',
  async () => {
    const hardened = await Hardened.start({ fourLetterWords: '*', logLevel: 'debug' });
    const authorization = basic(ADMIN);
    for (const member of hardened.ensemble.members) {
      // After stmk the member would wait for a mask.
      for (const word of WORDS.filter((one) => one !== 'stmk')) {
        hardened.keptSecret(word, await fourLetterWord(member.clientPort, word));
      }
      for (const command of COMMANDS) {
        const path = `/commands/${command}`;
        const { text } = await http(member.adminPort, 'GET', path, { authorization });
        hardened.keptSecret(path, text);
      }
      for (const path of ['/metrics', '/api/v1/events']) {
        const { status, text } = await http(member.adminPort, 'GET', path, { authorization });
        expect(status).toBe(200);
        hardened.keptSecret(path, text);
      }
      for (const file of ['cmdline', 'environ']) {
        const path = `/proc/${member.pid}/${file}`;
        if (existsSync(path)) hardened.keptSecret(path, readFileSync(path, 'latin1'));
      }
      hardened.keptSecret('the log', member.log());
    }
  },
  TEST_DEADLINE_MS,
);

/** What the member says until it closes the connection. */
function tell(port: number, bytes: Uint8Array): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const said = new Promise<Buffer>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('connect', () => socket.end(bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks)));
  });
  return within('the member closes the connection', DEADLINE_MS, said);
}
