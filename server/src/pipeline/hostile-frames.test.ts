/**
 * No request with hostile text of the size of a frame takes much longer than a harmless one of its
 * size: the texts are those at which searches from each position, ancestors, lists and splits would
 * become quadratic, which at a megabyte is minutes. So the bound is generous, and no benchmark.
 */
import { performance } from 'node:perf_hooks';
import {
  AddWatchRequest,
  AuthPacket,
  type Codec,
  CreateRequest,
  GetChildrenPageRequest,
  GetEphemeralsRequest,
  OpCode,
  PathVersionRequest,
  PathWatchRequest,
  ReconfigRequest,
  SaslRequest,
  SetAclRequest,
  SetDataRequest,
  SetWatches2Request,
  SetWatchesRequest,
  WatchesRequest,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { OPEN_ACL } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const SCHEMES = new Set(['sasl', 'x509', 'x509-san-uri', 'x509-san-dns'] as const);
const SIZE = 1_000_000;
/** How much longer than harmless text of the same size, and how long in any case. */
const TIMES_MAX = 40;
const FREE_MS = 250;

/** By the shape of the text. */
const PATHS: Readonly<Record<string, string>> = {
  name: `/${'n'.repeat(SIZE - 1)}`,
  deep: '/a'.repeat(SIZE / 2),
  slashes: '/'.repeat(SIZE),
  dots: '/..'.repeat(SIZE / 3),
  wide: `/${'\u4e00'.repeat(SIZE / 3)}`,
};
const IDS: readonly string[] = [
  `${':'.repeat(SIZE)}x`,
  `u:${':'.repeat(SIZE)}x`,
  ' '.repeat(SIZE),
  `CN=${' '.repeat(SIZE)}x`,
  `${'CN=a,'.repeat(SIZE / 5)}`,
  `CN="${'\\"'.repeat(SIZE / 2)}`,
  `${'1.'.repeat(SIZE / 2)}`,
  `${'0:'.repeat(SIZE / 2)}/0`,
  `${'a@'.repeat(SIZE / 2)}`,
  `${'a/'.repeat(SIZE / 2)}`,
];

type Request = readonly [name: string, opcode: number, send: (path: string) => Sent];
type Sent = readonly [codec: Codec<never>, value: unknown];

const sent = <T>(codec: Codec<T>, value: T): Sent => [codec as unknown as Codec<never>, value];
const acl = OPEN_ACL;
const flags = 0;
const data = null;

const REQUESTS: readonly Request[] = [
  ['create', OpCode.create, (path) => sent(CreateRequest, { path, data, acl, flags })],
  ['create2', OpCode.create2, (path) => sent(CreateRequest, { path, data, acl, flags: 2 })],
  ['delete', OpCode.delete, (path) => sent(PathVersionRequest, { path, version: -1 })],
  ['setData', OpCode.setData, (path) => sent(SetDataRequest, { path, data, version: -1 })],
  ['setACL', OpCode.setAcl, (path) => sent(SetAclRequest, { path, acl, version: -1 })],
  ['exists', OpCode.exists, (path) => sent(PathWatchRequest, { path, watch: true })],
  ['getData', OpCode.getData, (path) => sent(PathWatchRequest, { path, watch: true })],
  ['getChildren', OpCode.getChildren, (path) => sent(PathWatchRequest, { path, watch: true })],
  ['addWatch', OpCode.addWatch, (path) => sent(AddWatchRequest, { path, mode: 1 })],
  ['checkWatches', OpCode.checkWatches, (path) => sent(WatchesRequest, { path, type: 3 })],
  ['removeWatches', OpCode.removeWatches, (path) => sent(WatchesRequest, { path, type: 3 })],
  [
    'getEphemerals',
    OpCode.getEphemerals,
    (prefixPath) => sent(GetEphemeralsRequest, { prefixPath }),
  ],
  [
    'a page of children',
    OpCode.getChildrenPage,
    (path) =>
      sent(GetChildrenPageRequest, { path: '/', startAfter: path, limit: 10, watch: false }),
  ],
  ['setWatches', OpCode.setWatches, (path) => sent(SetWatchesRequest, watchesOf([path]))],
];

function watchesOf(existWatches: readonly string[]) {
  return { relativeZxid: 1, dataWatches: [], existWatches, childWatches: [] };
}

/** The time of one request, and of all that it causes at the members; the shortest of a few. */
function timeOf(opcode: number, [codec, value]: Sent): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const ensemble = new TestEnsemble({ preparer: { aclSchemes: SCHEMES } });
    const client = ensemble.connect();
    const from = performance.now();
    client.send(opcode, codec, value as never);
    ensemble.settle();
    shortest = Math.min(shortest, performance.now() - from);
  }
  return shortest;
}

const harmlessMs = timeOf(
  OpCode.create,
  sent(CreateRequest, { path: '/x', data: Buffer.alloc(SIZE, 'x'), acl, flags }),
);

/** The ones that take too long. */
function slow(times: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const most = FREE_MS + TIMES_MAX * harmlessMs;
  return Object.fromEntries(Object.entries(times).filter(([, ms]) => ms > most));
}

it.each(REQUESTS)('%s takes linear time for whatever path', (_, opcode, send) => {
  const times = Object.entries(PATHS).map(([shape, path]) => [shape, timeOf(opcode, send(path))]);
  expect(slow(Object.fromEntries(times))).toEqual({});
});

it('setACL and create take linear time for whatever id', () => {
  const times: Record<string, number> = {};
  for (const scheme of ['digest', 'ip', 'x509', 'sasl', 'world', 'auth', 'x']) {
    for (const [index, id] of IDS.entries()) {
      const list = [{ perms: 31, scheme, id }];
      const set = sent(SetAclRequest, { path: '/', acl: list, version: -1 });
      const made = sent(CreateRequest, { path: '/x', data, acl: list, flags });
      times[`setACL ${scheme} ${index}`] = timeOf(OpCode.setAcl, set);
      times[`create ${scheme} ${index}`] = timeOf(OpCode.create, made);
    }
  }
  expect(slow(times)).toEqual({});
});

it('lists of many entries take linear time', () => {
  const many = Array.from({ length: 60_000 }, (_, at) => ({
    perms: 31,
    scheme: 'ip',
    id: `${at}`,
  }));
  const paths = Array.from({ length: 60_000 }, (_, at) => `/missing${at}`);
  const none = { persistentWatches: paths, persistentRecursiveWatches: paths.slice(0, 9) };
  const recursive = { ...watchesOf([]), ...none };
  expect(
    slow({
      acl: timeOf(OpCode.setAcl, sent(SetAclRequest, { path: '/', acl: many, version: -1 })),
      watches: timeOf(OpCode.setWatches, sent(SetWatchesRequest, watchesOf(paths))),
      persistent: timeOf(OpCode.setWatches2, sent(SetWatches2Request, recursive)),
    }),
  ).toEqual({});
});

it('log-ins and reconfigurations take linear time for whatever text', () => {
  const times: Record<string, number> = {};
  for (const [index, text] of [...IDS, 'username="'.repeat(SIZE / 10)].entries()) {
    const auth = Buffer.from(text);
    for (const scheme of ['digest', 'ip', 'sasl', text]) {
      const packet = sent(AuthPacket, { type: 0, scheme, auth });
      times[`auth ${scheme.slice(0, 6)} ${index}`] = timeOf(OpCode.auth, packet);
    }
    times[`sasl ${index}`] = timeOf(OpCode.sasl, sent(SaslRequest, { token: auth }));
    const list = {
      joiningServers: text,
      leavingServers: text,
      newMembers: text,
      currentConfigId: -1,
    };
    times[`reconfig ${index}`] = timeOf(OpCode.reconfig, sent(ReconfigRequest, list));
  }
  expect(slow(times)).toEqual({});
});
