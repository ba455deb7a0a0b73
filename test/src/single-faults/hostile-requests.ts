/**
 * Requests made to be slow, twenty of each kind: nearly as large as a frame may be, or about a
 * znode with very many children.
 *
 * An anonymous client sends them to a follower and to the leader; no other client waits for long,
 * and the leader stays. The first kind is harmless: what others wait for meanwhile is what this
 * machine takes.
 */
import {
  AddWatchRequest,
  AuthPacket,
  CreateRequest,
  GetChildrenPageRequest,
  JuteWriter,
  MultiReadRequest,
  MultiRequest,
  OpCode,
  PathRequest,
  PathWatchRequest,
  Perms,
  RequestHeader,
  SetAclRequest,
  SetWatches2Request,
} from '@rookery/protocol';
import { httpGet } from '../harness/http.js';
import type { Member } from '../harness/member.js';
import { create } from '../harness/operations.js';
import { RawConnection } from '../harness/raw-connection.js';
import { connectRequest, WireClient } from '../harness/wire-client.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

const TIMES = 20;
const WAIT_MS_MAX = 100;
/** The default of the largest frame is 1 MB; the rest of a request needs some room. */
const TEXT_BYTES = 1_000_000;
const SESSION_TIMEOUT_MS = 10_000;
const MANY = '/many';
const CHILDREN = 500_000;
const CHILDREN_SHORT = 20_000;
const OPS_MAX = 4_096;
const SEEDED_AT_ONCE = 500;

type Write = (writer: JuteWriter, xid: number) => void;
/** Sends it once, and tells what became of it. */
type Send = (member: Member) => Promise<string>;
type Hostile = readonly [name: string, send: Send];

/** A connection of its own each time: a member may end the connection of an attacker. */
function frames(...writes: readonly Write[]): Send {
  return async ({ clientPort }) => {
    const connection = await RawConnection.open(clientPort);
    try {
      connection.send(connectRequest({ timeoutMs: SESSION_TIMEOUT_MS }));
      if ((await connection.nextFrame()) === undefined) return 'refused at once';
      let answer = '';
      for (const [index, write] of writes.entries()) {
        const writer = new JuteWriter();
        writer.beginFrame();
        write(writer, index + 1);
        writer.endFrame();
        connection.send(writer.take());
        const frame = await connection.nextFrame();
        if (frame === undefined) return 'connection ended';
        answer = `error ${Buffer.from(frame).readInt32BE(12)}`;
      }
      return answer;
    } finally {
      connection.destroy();
    }
  };
}

function written(type: number, body: (writer: JuteWriter) => void): Write {
  return (writer, xid) => {
    RequestHeader.write(writer, { xid, type });
    body(writer);
  };
}

function request(type: number, body: (writer: JuteWriter) => void): Send {
  return frames(written(type, body));
}

function ofMany(type: number): Write {
  return written(type, (writer) => PathWatchRequest.write(writer, { path: MANY, watch: false }));
}

/** A new sequential child, so that nothing that a member keeps of the list is good any more. */
const oneMore = written(OpCode.create, (writer) =>
  CreateRequest.write(writer, { path: `${MANY}/n`, data: null, acl: world, flags: 2 }),
);

function multiRead(op: number): Send {
  const request = { path: MANY, watch: false };
  const opcode = op === OpCode.getData ? OpCode.getData : OpCode.getChildren;
  const ops = Array.from({ length: OPS_MAX }, () => ({ opcode, request }));
  return frames(written(OpCode.multiRead, (writer) => MultiReadRequest.write(writer, { ops })));
}

function multi(count: number): Write {
  return written(OpCode.multi, (writer) =>
    MultiRequest.write(writer, {
      ops: Array.from({ length: count }, (_, index) => ({
        opcode: OpCode.create,
        request: { path: `/m${index}`, data: null, acl: world, flags: 0 },
      })),
    }),
  );
}

/** As `deleteall` of a command line does: all of it in one request. */
function deletions(count: number): Write {
  return written(OpCode.multi, (writer) =>
    MultiRequest.write(writer, {
      ops: Array.from({ length: count }, (_, index) => ({
        opcode: OpCode.delete,
        request: { path: `/m${index}`, version: -1 },
      })),
    }),
  );
}

function rest(path: string): Send {
  return async ({ adminPort }) => {
    const { status } = await httpGet(adminPort, `/api/v1${path}`);
    return `status ${status}`;
  };
}

const world = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];

function setAcl(scheme: string, id: string): Send {
  return request(OpCode.setAcl, (writer) =>
    SetAclRequest.write(writer, { path: '/', acl: [{ perms: 31, scheme, id }], version: -1 }),
  );
}

function createAt(path: string, acl: CreateRequest['acl'] = world): Send {
  return request(OpCode.create, (writer) =>
    CreateRequest.write(writer, { path, data: null, acl, flags: 0 }),
  );
}

function path(type: number, text: string): Send {
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
  ['a harmless read, for comparison', frames(ofMany(OpCode.exists))],
  ['an ACL with a digest identity of colons', setAcl('digest', colons)],
  ['an ACL with an x509 identity of blanks', setAcl('x509', blanks)],
  ['an ACL with a sasl identity of colons', setAcl('sasl', colons)],
  ['an ACL with an ip identity of digits', setAcl('ip', '1.'.repeat(TEXT_BYTES / 2))],
  ['an ACL of a scheme with a long name', setAcl('s'.repeat(TEXT_BYTES), 'x')],
  ['an ACL with 20,000 address ranges', createAt('/never/made', many)],
  ['a create below 500,000 parents', createAt(deep)],
  ['a create at a path of slashes', createAt(slashes)],
  ['a create at a path of dots', createAt(dots)],
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
  ['a multi of 15,000 creates', frames(multi(15_000))],
  ['4,096 creates in a multi, and 4,096 deletions', frames(multi(OPS_MAX), deletions(OPS_MAX))],
  [
    'a log-in with a digest of colons',
    frames((writer) => {
      RequestHeader.write(writer, { xid: -4, type: OpCode.auth });
      AuthPacket.write(writer, { type: 0, scheme: 'digest', auth: Buffer.from(colons) });
    }),
  ],
  ['a list of very many children', frames(ofMany(OpCode.getChildren2))],
  ['a new child, and a list of very many', frames(oneMore, ofMany(OpCode.getChildren2))],
  [
    'a new child, and a first page of very many',
    frames(
      oneMore,
      written(OpCode.getChildrenPage, (writer) =>
        GetChildrenPageRequest.write(writer, {
          path: MANY,
          startAfter: '',
          limit: 1_000,
          watch: false,
        }),
      ),
    ),
  ],
  [
    'a count of all below a znode',
    request(OpCode.getAllChildrenNumber, (writer) => PathRequest.write(writer, { path: MANY })),
  ],
  ['a multiRead of 4,096 lists of very many', multiRead(OpCode.getChildren)],
  ['a multiRead of 4,096 znodes', multiRead(OpCode.getData)],
  ['REST: facts of a znode with very many below', rest(`/node?path=${MANY}`)],
  ['REST: a page of very many children', rest(`/children?path=${MANY}&limit=1000&stat=true`)],
  ['REST: a search that finds nothing', rest('/search?path=/&match=nowhere')],
  ['REST: all recipes', rest('/recipes?path=/')],
];

export const hostileRequests: Scenario = {
  name: 'hostile-requests',
  promise: 'requests that are slow to judge hold up no other client, and depose no leader',
  async play({ report, isShort }: PlayOptions) {
    const stage = await Stage.set();
    try {
      await makeMany(stage, isShort ? CHILDREN_SHORT : CHILDREN);
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

async function makeMany(stage: Stage, count: number): Promise<void> {
  const { clientPort } = await stage.ensemble.leader();
  const client = await WireClient.connect({ port: clientPort, recording: false });
  await create(client, MANY);
  for (let next = 0; next < count; next += SEEDED_AT_ONCE) {
    const ops = Array.from({ length: SEEDED_AT_ONCE }, (_, at) => ({
      opcode: OpCode.create,
      request: { path: `${MANY}/child-${next + at}`, data: null, acl: world, flags: 0 },
    }));
    const { error } = await client.request(OpCode.multi, MultiRequest, { ops });
    if (error !== 0) throw new Error(`creating children was answered with ${error}`);
  }
  await client.close();
}

async function attack(stage: Stage, [, send]: Hostile, notes: PlayNotes): Promise<void> {
  const leader = await stage.ensemble.leader();
  const [follower] = await stage.ensemble.followers();
  const answers = new Map<string, number>();
  for (const member of [follower, leader]) {
    if (member === undefined) continue;
    for (let time = 0; time < TIMES; time += 1) {
      const answer = await send(member);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  }
  const counted = [...answers].map(([answer, count]) => `${count} ${answer}`);
  notes.said(`answers: ${counted.join(', ')}`);
}
