/**
 * Requests made to be slow to judge, each nearly as large as a frame may be, twenty of each kind.
 *
 * An anonymous client sends them to a follower and to the leader; no other client waits for long,
 * and the leader stays.
 */
import {
  AddWatchRequest,
  AuthPacket,
  CreateRequest,
  JuteWriter,
  MultiRequest,
  OpCode,
  PathWatchRequest,
  Perms,
  RequestHeader,
  SetAclRequest,
  SetWatches2Request,
} from '@rookery/protocol';
import { RawConnection } from '../harness/raw-connection.js';
import { connectRequest } from '../harness/wire-client.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

const TIMES = 20;
const WAIT_MS_MAX = 100;
/** The default of the largest frame is 1 MB; the rest of a request needs some room. */
const TEXT_BYTES = 1_000_000;
const SESSION_TIMEOUT_MS = 10_000;

type Hostile = readonly [name: string, write: (writer: JuteWriter, xid: number) => void];

function request(type: number, body: (writer: JuteWriter) => void): Hostile[1] {
  return (writer, xid) => {
    RequestHeader.write(writer, { xid, type });
    body(writer);
  };
}

const world = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];

function setAcl(scheme: string, id: string): Hostile[1] {
  return request(OpCode.setAcl, (writer) =>
    SetAclRequest.write(writer, { path: '/', acl: [{ perms: 31, scheme, id }], version: -1 }),
  );
}

function create(path: string, acl: CreateRequest['acl'] = world): Hostile[1] {
  return request(OpCode.create, (writer) =>
    CreateRequest.write(writer, { path, data: null, acl, flags: 0 }),
  );
}

function path(type: number, text: string): Hostile[1] {
  return request(type, (writer) => PathWatchRequest.write(writer, { path: text, watch: true }));
}

const colons = `${':'.repeat(TEXT_BYTES)}x`;
const blanks = `a${' '.repeat(TEXT_BYTES)}b`;
const slashes = '/'.repeat(TEXT_BYTES);
const deep = '/a'.repeat(TEXT_BYTES / 2);
const dots = '/..'.repeat(TEXT_BYTES / 3);
const many = Array.from({ length: 20_000 }, (_, index) => ({
  perms: 31,
  scheme: 'ip',
  id: `10.0.${index >> 8}.${index & 255}/16`,
}));

const HOSTILE: readonly Hostile[] = [
  ['an ACL with a digest identity of colons', setAcl('digest', colons)],
  ['an ACL with an x509 identity of blanks', setAcl('x509', blanks)],
  ['an ACL with a sasl identity of colons', setAcl('sasl', colons)],
  ['an ACL with an ip identity of digits', setAcl('ip', '1.'.repeat(TEXT_BYTES / 2))],
  ['an ACL of a scheme with a long name', setAcl('s'.repeat(TEXT_BYTES), 'x')],
  ['an ACL with 20,000 address ranges', create('/never/made', many)],
  ['a create below 500,000 parents', create(deep)],
  ['a create at a path of slashes', create(slashes)],
  ['a create at a path of dots', create(dots)],
  ['an exists watch on a path of 1 MB', path(OpCode.exists, deep)],
  ['a read of children at a path of slashes', path(OpCode.getChildren, slashes)],
  [
    'setWatches with a path of 1 MB',
    request(OpCode.setWatches2, (writer) =>
      SetWatches2Request.write(writer, {
        relativeZxid: 0,
        dataWatches: [deep],
        existWatches: [],
        childWatches: [],
        persistentWatches: [],
        persistentRecursiveWatches: [],
      }),
    ),
  ],
  [
    'setWatches with 85,000 paths',
    request(OpCode.setWatches2, (writer) =>
      SetWatches2Request.write(writer, {
        relativeZxid: 0,
        dataWatches: [],
        existWatches: Array.from({ length: 85_000 }, (_, index) => `/w${index}`),
        childWatches: [],
        persistentWatches: [],
        persistentRecursiveWatches: [],
      }),
    ),
  ],
  [
    'a recursive watch on a deep path',
    request(OpCode.addWatch, (writer) => AddWatchRequest.write(writer, { path: deep, mode: 1 })),
  ],
  [
    'a multi of 15,000 creates',
    request(OpCode.multi, (writer) =>
      MultiRequest.write(writer, {
        ops: Array.from({ length: 15_000 }, (_, index) => ({
          opcode: OpCode.create,
          request: { path: `/m${index}`, data: null, acl: world, flags: 0 },
        })),
      }),
    ),
  ],
  [
    'a log-in with a digest of colons',
    (writer) => {
      RequestHeader.write(writer, { xid: -4, type: OpCode.auth });
      AuthPacket.write(writer, { type: 0, scheme: 'digest', auth: Buffer.from(colons) });
    },
  ],
];

export const hostileRequests: Scenario = {
  name: 'hostile-requests',
  promise: 'requests that are slow to judge hold up no other client, and depose no leader',
  async play({ report }: PlayOptions) {
    const stage = await Stage.set();
    try {
      for (const hostile of HOSTILE) {
        const fault = `${TIMES} times ${hostile[0]}, at the leader and at a follower`;
        const bounds = { waitMsMax: WAIT_MS_MAX };
        report(await stage.play(fault, bounds, (notes) => attack(stage, hostile, notes)));
      }
    } finally {
      await stage.strike();
    }
  },
};

async function attack(stage: Stage, [, write]: Hostile, notes: PlayNotes): Promise<void> {
  const leader = await stage.ensemble.leader();
  const [follower] = await stage.ensemble.followers();
  const answers = new Map<string, number>();
  for (const member of [follower, leader]) {
    if (member === undefined) continue;
    for (let time = 0; time < TIMES; time += 1) {
      const answer = await sendOnce(member.clientPort, write);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  }
  const counted = [...answers].map(([answer, count]) => `${count} ${answer}`);
  notes.said(`answers: ${counted.join(', ')}`);
}

/** A connection of its own each time: a member may end the connection of an attacker. */
async function sendOnce(port: number, write: Hostile[1]): Promise<string> {
  const connection = await RawConnection.open(port);
  try {
    connection.send(connectRequest({ timeoutMs: SESSION_TIMEOUT_MS }));
    if ((await connection.nextFrame()) === undefined) return 'refused at once';
    const writer = new JuteWriter();
    writer.beginFrame();
    write(writer, 1);
    writer.endFrame();
    connection.send(writer.take());
    const frame = await connection.nextFrame();
    if (frame === undefined) return 'connection ended';
    return `error ${Buffer.from(frame).readInt32BE(12)}`;
  } finally {
    connection.destroy();
  }
}
