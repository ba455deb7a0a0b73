/**
 * No request with hostile text takes more than linear work: the texts are those at which searches
 * from each position, ancestors, lists and splits would become quadratic, which at the size of a
 * frame is minutes. The work is counted (counted-work.ts), at one size and at twice that size, so
 * the outcome is the same on every machine. Every operation has a text here.
 */
import {
  AddWatchRequest,
  AuthPacket,
  type Codec,
  CreateRequest,
  CreateTtlRequest,
  Empty,
  encode,
  GetChildrenPageRequest,
  GetEphemeralsRequest,
  MultiReadRequest,
  MultiRequest,
  OpCode,
  PathRequest,
  PathVersionRequest,
  PathWatchRequest,
  RaiseSequenceRequest,
  ReconfigRequest,
  SaslRequest,
  SetAclRequest,
  SetDataRequest,
  SetWatches2Request,
  SetWatchesRequest,
  WatchesRequest,
} from '@rookery/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DigestMd5Server } from '../security/digest-md5.js';
import { CountedWork } from '../simulated/pipeline/counted-work.js';
import { OPEN_ACL } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { classOf } from './request.js';

const SCHEMES = new Set(['sasl', 'x509', 'x509-san-uri', 'x509-san-dns'] as const);
const SCHEME_NAMES = ['digest', 'ip', 'x509', 'sasl', 'world', 'auth', 'x'];
/** The size of a text in characters, below every bound also when it is doubled. */
const SIZE = 30_000;
/** The same for ids of ACLs and log-ins, whose bound is lower. */
const ID_SIZE = 4_000;
const LIST_SIZE = 2_000;
/** Twice the work, and room for what grows in steps: tables, pages, parts. */
const GROWTH_MAX = 2.6;
/** What a request takes whatever its size. */
const FREE_WORK = 20_000;

type Bytes = Uint8Array<ArrayBufferLike>;
type RequestOf = (text: string) => Bytes;

const data = null;
const flags = 0;
const acl = OPEN_ACL;
const body = <T>(codec: Codec<T>, value: T): Bytes => encode(codec, value);

const PATHS: Readonly<Record<string, (size: number) => string>> = {
  name: (size) => `/${'n'.repeat(size - 1)}`,
  deep: (size) => '/a'.repeat(size / 2),
  slashes: (size) => '/'.repeat(size),
  dots: (size) => '/..'.repeat(size / 3),
  wide: (size) => `/${'\u4e00'.repeat(size / 3)}`,
};
const IDS: Readonly<Record<string, (size: number) => string>> = {
  colons: (size) => `${':'.repeat(size - 1)}x`,
  'a user and colons': (size) => `u:${':'.repeat(size - 3)}x`,
  blanks: (size) => ' '.repeat(size),
  'a name of blanks': (size) => `CN=${' '.repeat(size - 4)}x`,
  'many names': (size) => 'CN=a,'.repeat(size / 5),
  'escaped quotes': (size) => `CN="${'\\"'.repeat((size - 4) / 2)}`,
  'dotted digits': (size) => '1.'.repeat(size / 2),
  groups: (size) => `${'0:'.repeat((size - 2) / 2)}/0`,
  'at signs': (size) => 'a@'.repeat(size / 2),
  'slashed letters': (size) => 'a/'.repeat(size / 2),
  directives: (size) => 'username="'.repeat(size / 10),
};

const BY_PATH: Readonly<Record<number, RequestOf>> = {
  [OpCode.create]: (path) => body(CreateRequest, { path, data, acl, flags }),
  [OpCode.create2]: (path) => body(CreateRequest, { path, data, acl, flags: 2 }),
  [OpCode.createContainer]: (path) => body(CreateRequest, { path, data, acl, flags: 4 }),
  [OpCode.createTtl]: (path) => body(CreateTtlRequest, { path, data, acl, flags: 5, ttlMs: 9 }),
  [OpCode.delete]: (path) => body(PathVersionRequest, { path, version: -1 }),
  [OpCode.setData]: (path) => body(SetDataRequest, { path, data, version: -1 }),
  [OpCode.setAcl]: (path) => body(SetAclRequest, { path, acl, version: -1 }),
  [OpCode.raiseSequence]: (path) => body(RaiseSequenceRequest, { path, atLeast: 1 }),
  [OpCode.getAcl]: (path) => body(PathRequest, { path }),
  [OpCode.exists]: (path) => body(PathWatchRequest, { path, watch: true }),
  [OpCode.getData]: (path) => body(PathWatchRequest, { path, watch: true }),
  [OpCode.getChildren]: (path) => body(PathWatchRequest, { path, watch: true }),
  [OpCode.getChildren2]: (path) => body(PathWatchRequest, { path, watch: true }),
  [OpCode.getAllChildrenNumber]: (path) => body(PathRequest, { path }),
  [OpCode.sync]: (path) => body(PathRequest, { path }),
  [OpCode.addWatch]: (path) => body(AddWatchRequest, { path, mode: 1 }),
  [OpCode.checkWatches]: (path) => body(WatchesRequest, { path, type: 3 }),
  [OpCode.removeWatches]: (path) => body(WatchesRequest, { path, type: 3 }),
  [OpCode.getEphemerals]: (prefixPath) => body(GetEphemeralsRequest, { prefixPath }),
  [OpCode.getChildrenPage]: (startAfter) =>
    body(GetChildrenPageRequest, { path: '/', startAfter, limit: 10, watch: false }),
  [OpCode.setWatches]: (path) => body(SetWatchesRequest, watchesOf([path])),
  [OpCode.setWatches2]: (path) => body(SetWatches2Request, watchesOf([path])),
  [OpCode.multi]: (path) =>
    body(MultiRequest, {
      ops: [
        { opcode: OpCode.check, request: { path, version: -1 } },
        { opcode: OpCode.create, request: { path, data, acl, flags } },
      ],
    }),
  [OpCode.multiRead]: (path) =>
    body(MultiReadRequest, {
      ops: [{ opcode: OpCode.getData, request: { path, watch: false } }],
    }),
};

const BY_ID: Readonly<Record<number, (text: string, scheme: string) => Bytes>> = {
  [OpCode.setAcl]: (id, scheme) =>
    body(SetAclRequest, { path: '/', acl: [{ perms: 31, scheme, id }], version: -1 }),
  [OpCode.create]: (id, scheme) =>
    body(CreateRequest, { path: '/x', data, acl: [{ perms: 31, scheme, id }], flags }),
  [OpCode.auth]: (text, scheme) => body(AuthPacket, { type: 0, scheme, auth: Buffer.from(text) }),
  [OpCode.sasl]: (text) => body(SaslRequest, { token: Buffer.from(text) }),
  [OpCode.reconfig]: (text) =>
    body(ReconfigRequest, {
      joiningServers: text,
      leavingServers: text,
      newMembers: text,
      currentConfigId: -1,
    }),
};

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const BY_COUNT: Readonly<Record<string, readonly [opcode: number, of: (n: number) => Bytes]>> = {
  'ranges in an ACL': [
    OpCode.setAcl,
    (count) => {
      const list = numbers(count).map((at) => ({ perms: 31, scheme: 'ip', id: `fe80::${at}` }));
      return body(SetAclRequest, { path: '/', acl: list, version: -1 });
    },
  ],
  'users in an ACL': [
    OpCode.create,
    (count) => {
      const list = numbers(count).map((at) => ({ perms: 31, scheme: 'digest', id: `u${at}:x` }));
      return body(CreateRequest, { path: '/x', data, acl: list, flags });
    },
  ],
  'watches of missing znodes': [
    OpCode.setWatches,
    (count) => body(SetWatchesRequest, watchesOf(numbers(count).map((at) => `/missing${at}`))),
  ],
  'watches of all kinds': [
    OpCode.setWatches2,
    (count) => {
      const paths = numbers(count).map((at) => `/a/b${at}`);
      const persistent = { persistentWatches: paths, persistentRecursiveWatches: paths };
      return body(SetWatches2Request, { ...watchesOf(paths), ...persistent, dataWatches: paths });
    },
  ],
  'creates in a multi': [
    OpCode.multi,
    (count) => {
      const op = (at: number) => ({ path: `/m${at}`, data, acl, flags });
      const opcode = OpCode.create;
      return body(MultiRequest, { ops: numbers(count).map((at) => ({ opcode, request: op(at) })) });
    },
  ],
  'reads in a multiRead': [
    OpCode.multiRead,
    (count) => {
      const request = { path: '/', watch: false };
      const op = { opcode: OpCode.getChildren, request } as const;
      return body(MultiReadRequest, { ops: numbers(count).map(() => op) });
    },
  ],
};

/** What has no text: only that it is here. */
const WITHOUT_TEXT: readonly number[] = [OpCode.ping, OpCode.whoAmI, OpCode.closeSession];

function watchesOf(existWatches: readonly string[]) {
  const none = { dataWatches: [], childWatches: [] };
  const persistent = { persistentWatches: [], persistentRecursiveWatches: [] };
  return { relativeZxid: 1, existWatches, ...none, ...persistent };
}

let counted: CountedWork;
beforeAll(() => {
  counted = new CountedWork();
});
afterAll(() => counted.close());

/** The work of one request, and of all that it causes at the members. */
function workOf(opcode: number, sent: Bytes): number {
  const ensemble = new TestEnsemble({
    preparer: { aclSchemes: SCHEMES, pathDepthMax: 1_000_000 },
    pipeline: { watchLimits: { watcherBytesMax: 256 << 20, bytesMax: 512 << 20 } },
    sasl: new DigestMd5Server(() => undefined),
  });
  const client = ensemble.connect();
  if (opcode === OpCode.sasl) client.send(opcode, SaslRequest, { token: null });
  return counted.of(() => {
    client.sendRaw(opcode, sent);
    ensemble.settle();
  });
}

/** How the work grows; null if it is linear. */
function growth(opcode: number, sentOf: (times: number) => Bytes): string | null {
  const [once, twice] = [workOf(opcode, sentOf(1)), workOf(opcode, sentOf(2))];
  return twice <= GROWTH_MAX * once + FREE_WORK ? null : `${once} become ${twice}`;
}

it('has a hostile text for every operation that a client may ask for', () => {
  const known = [
    ...Object.keys({ ...BY_PATH, ...BY_ID }).map(Number),
    ...Object.values(BY_COUNT).map(([opcode]) => opcode),
    ...WITHOUT_TEXT,
  ];
  const all = Object.values(OpCode).filter((opcode) => classOf(opcode) !== 'unknown');
  expect(all.filter((opcode) => !known.includes(opcode))).toEqual([]);
});

it('finds work that is not linear', () => {
  const text = (size: number) => PATHS['deep']?.(size) ?? '';
  const quadratic = (path: string) => {
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1)) path.slice(0, at);
  };
  const work = (times: number) => counted.of(() => quadratic(text(times * SIZE)));
  expect(work(2)).toBeGreaterThan(3 * work(1));
});

it.each(Object.keys(BY_PATH).map(Number))(
  'operation %i takes linear work for any path',
  (opcode) => {
    const found = Object.entries(PATHS).map(([shape, path]) => {
      const sentOf = (times: number) => BY_PATH[opcode]?.(path(times * SIZE)) ?? body(Empty, null);
      return [shape, growth(opcode, sentOf)];
    });
    expect(found.filter(([, grown]) => grown !== null)).toEqual([]);
  },
);

it.each(Object.keys(BY_ID).map(Number))('operation %i takes linear work for any id', (opcode) => {
  const found: unknown[] = [];
  const hasScheme = opcode !== OpCode.sasl && opcode !== OpCode.reconfig;
  for (const scheme of hasScheme ? SCHEME_NAMES : ['']) {
    for (const [shape, id] of Object.entries(IDS)) {
      const sentOf = (times: number) => {
        return BY_ID[opcode]?.(id(times * ID_SIZE), scheme) ?? body(Empty, null);
      };
      const grown = growth(opcode, sentOf);
      if (grown !== null) found.push([scheme, shape, grown]);
    }
  }
  expect(found).toEqual([]);
});

it.each(Object.entries(BY_COUNT))('many %s take linear work', (_, [opcode, of]) => {
  expect(growth(opcode, (times) => of(times * LIST_SIZE))).toBe(null);
});
