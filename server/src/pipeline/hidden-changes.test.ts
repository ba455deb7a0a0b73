// Goal: nothing that a client is answered depends on znodes that it may not read. Method: two
// ensembles get the same requests of one client and the same changes that it may see. Changes that
// it may not see are drawn for each of them, at the same places and as many. Every frame that the
// client gets must then be the same in both, and so must all figures of watches.
//
// Left out is what ZooKeeper shows to everybody: whether a path exists, the number of all znodes
// below a readable path, and the zxid.
import {
  type Acl,
  AddWatchRequest,
  AuthPacket,
  CreateRequest,
  encode,
  GetChildrenPageRequest,
  GetEphemeralsRequest,
  MultiReadRequest,
  type MultiReadRequestOp,
  MultiRequest,
  makeZxid,
  OpCode,
  PathRequest,
  SetAclRequest,
  SetWatches2Request,
  SetWatchesRequest,
  WatchesRequest,
} from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { fakeDigestOf, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const BOBS: readonly Acl[] = [{ perms: 31, scheme: 'digest', id: fakeDigestOf('bob:secret') }];
/** Other lists that only Bob may read. */
const ALSO_BOBS: readonly (readonly Acl[])[] = [
  BOBS,
  [...BOBS, { perms: 31, scheme: 'digest', id: fakeDigestOf('ann:secret') }],
  [{ perms: 1, scheme: 'ip', id: '10.0.0.1' }, ...BOBS],
];

/** `/turn` may be read by everybody until it is closed. */
const OPEN = ['/', '/open', '/open/c', '/half'];
const HIDDEN = ['/sec', '/sec/a', '/half/x', '/half/x/k'];
const TURN = ['/turn', '/turn/c'];
const ASKED = [...OPEN, ...HIDDEN, ...TURN, '/none'];

interface World {
  readonly ensemble: TestEnsemble;
  readonly asker: TestClient;
  readonly bob: TestClient;
  isClosed: boolean;
}

type Act = (world: World) => void;

interface Step {
  readonly name: string;
  /** What happens in each of both worlds. */
  readonly acts: readonly [Act, Act];
}

function newWorld(): World {
  const ensemble = new TestEnsemble();
  const asker = ensemble.connect();
  const bob = ensemble.connect();
  const packet = { type: 0, scheme: 'digest', auth: Buffer.from('bob:secret') };
  bob.sendRaw(OpCode.auth, encode(AuthPacket, packet), -4);
  for (const path of [...OPEN.slice(1), ...TURN]) create(bob, path, OPEN_ACL);
  for (const path of HIDDEN) create(bob, path, BOBS);
  ensemble.settle();
  asker.takeFrames();
  return { ensemble, asker, bob, isClosed: false };
}

function create(client: TestClient, path: string, acl: readonly Acl[]): void {
  client.send(OpCode.create, CreateRequest, { path, data: null, acl, flags: 0 });
}

function setAcl(client: TestClient, path: string, acl: readonly Acl[]): void {
  client.send(OpCode.setAcl, SetAclRequest, { path, acl, version: -1 });
}

function paths(): fc.Arbitrary<string> {
  return fc.oneof(fc.constantFrom(...HIDDEN), fc.constantFrom(...ASKED));
}

/** Each takes one zxid, whether it succeeds or not. */
function hiddenChange(): fc.Arbitrary<Act> {
  const place = fc.constantFrom(...HIDDEN, ...TURN);
  const at = (path: string, { isClosed }: World) =>
    TURN.includes(path) && !isClosed ? '/sec' : path;
  return fc.oneof(
    place.map(
      (path): Act =>
        (world) =>
          world.bob.setData(at(path, world), 'secret'),
    ),
    place.map(
      (path): Act =>
        (world) =>
          create(world.bob, `${at(path, world)}/n`, BOBS),
    ),
    place.map(
      (path): Act =>
        (world) =>
          world.bob.delete(`${at(path, world)}/n`),
    ),
    fc.tuple(place, fc.constantFrom(...ALSO_BOBS)).map(
      ([path, acl]): Act =>
        (world) =>
          setAcl(world.bob, at(path, world), acl),
    ),
    place.map(
      (path): Act =>
        (world) => {
          const request = { path: `${at(path, world)}/m`, data: null, acl: BOBS, flags: 0 };
          const gone = { path: request.path, version: -1 };
          world.bob.send(OpCode.multi, MultiRequest, {
            ops: [
              { opcode: OpCode.create, request },
              { opcode: OpCode.delete, request: gone },
            ],
          });
        },
    ),
  );
}

/** Changes that are the same in both, and that the client may see. */
function openChange(): fc.Arbitrary<Act> {
  const close: Act = (world) => {
    for (const path of TURN) setAcl(world.bob, path, BOBS);
    world.isClosed = true;
  };
  const place = fc.constantFrom(...OPEN.slice(1));
  return fc.oneof(
    fc.constant(close),
    place.map(
      (path): Act =>
        ({ bob }) =>
          bob.setData(path, 'open'),
    ),
    place.map(
      (path): Act =>
        ({ bob }) =>
          create(bob, `${path}/o`, OPEN_ACL),
    ),
    place.map(
      (path): Act =>
        ({ bob }) =>
          bob.delete(`${path}/o`),
    ),
  );
}

function plainRead(): fc.Arbitrary<Act> {
  const { exists, getData, getChildren, getChildren2, getAcl, whoAmI } = OpCode;
  const reads = fc.constantFrom(exists, getData, getChildren, getChildren2);
  const reading = (op: MultiReadRequestOp['opcode'], path: string): MultiReadRequestOp => ({
    opcode: op,
    request: { path, watch: false },
  });
  const multiReads = fc.array(fc.tuple(fc.constantFrom(getData, getChildren), paths()));
  return fc.oneof(
    fc.tuple(reads, paths(), fc.boolean()).map(
      ([op, path, watch]): Act =>
        ({ asker }) =>
          asker.read(op, path, watch),
    ),
    paths().map(
      (path): Act =>
        ({ asker }) =>
          asker.send(getAcl, PathRequest, { path }),
    ),
    fc.constant<Act>(({ asker }) => asker.sendRaw(whoAmI, new Uint8Array())),
    paths().map(
      (prefixPath): Act =>
        ({ asker }) => {
          asker.send(OpCode.getEphemerals, GetEphemeralsRequest, { prefixPath });
        },
    ),
    fc.constantFrom('/open', ...HIDDEN).map(
      (path): Act =>
        ({ asker }) => {
          asker.send(OpCode.getAllChildrenNumber, PathRequest, { path });
        },
    ),
    fc.tuple(paths(), fc.boolean()).map(
      ([path, watch]): Act =>
        ({ asker }) => {
          const page = { path, watch, startAfter: '', limit: 2 };
          asker.send(OpCode.getChildrenPage, GetChildrenPageRequest, page);
        },
    ),
    multiReads.map(
      (all): Act =>
        ({ asker }) => {
          const ops = all.map(([op, path]) => reading(op, path));
          asker.send(OpCode.multiRead, MultiReadRequest, { ops });
        },
    ),
  );
}

function aboutWatches(): fc.Arbitrary<Act> {
  const { checkWatches, removeWatches, addWatch } = OpCode;
  const lists = fc.array(paths(), { maxLength: 3 });
  const seen = fc.integer({ min: 10, max: 40 }).map((counter) => makeZxid(1, counter));
  const all = fc.record({
    relativeZxid: fc.oneof(seen, fc.constant(2n ** 62n)),
    dataWatches: lists,
    existWatches: lists,
    childWatches: lists,
    persistentWatches: lists,
    persistentRecursiveWatches: lists,
  });
  const types = fc.constantFrom(1, 2, 3, 4, 5);
  return fc.oneof(
    all.map(
      (request): Act =>
        ({ asker }) => {
          asker.send(OpCode.setWatches, SetWatchesRequest, request);
        },
    ),
    all.map(
      (request): Act =>
        ({ asker }) => {
          asker.send(OpCode.setWatches2, SetWatches2Request, request);
        },
    ),
    fc.tuple(fc.constantFrom(checkWatches, removeWatches), paths(), types).map(
      ([op, path, type]): Act =>
        ({ asker }) =>
          asker.send(op, WatchesRequest, { path, type }),
    ),
    fc.tuple(paths(), fc.constantFrom(0, 1)).map(
      ([path, mode]): Act =>
        ({ asker }) => {
          asker.send(addWatch, AddWatchRequest, { path, mode });
        },
    ),
  );
}

/** Writes that fail, as far as they are of hidden znodes. */
function refusedWrite(): fc.Arbitrary<Act> {
  const place = fc.constantFrom(...HIDDEN);
  return fc.oneof(
    place.map(
      (path): Act =>
        ({ asker }) =>
          asker.setData(path, 'x', 1),
    ),
    place.map(
      (path): Act =>
        ({ asker }) =>
          create(asker, `${path}/n`, OPEN_ACL),
    ),
    place.map(
      (path): Act =>
        ({ asker }) =>
          setAcl(asker, path, OPEN_ACL),
    ),
    fc.constantFrom('/sec/a', '/sec/n', '/half/x/k').map(
      (path): Act =>
        ({ asker }) => {
          asker.delete(path, 1);
        },
    ),
    place.map(
      (path): Act =>
        ({ asker }) => {
          const ops = [{ opcode: OpCode.check, request: { path, version: 1 } }] as const;
          asker.send(OpCode.multi, MultiRequest, { ops });
        },
    ),
  );
}

function steps(): fc.Arbitrary<Step> {
  const both = (name: string, act: fc.Arbitrary<Act>) =>
    act.map((one): Step => ({ name, acts: [one, one] }));
  return fc.oneof(
    { weight: 4, arbitrary: both('read', plainRead()) },
    { weight: 5, arbitrary: both('watch', aboutWatches()) },
    { weight: 1, arbitrary: both('write', refusedWrite()) },
    { weight: 2, arbitrary: both('open', openChange()) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(hiddenChange(), hiddenChange())
        .map((acts): Step => ({ name: 'hidden', acts })),
    },
  );
}

function figuresOf({ ensemble }: World): unknown {
  const { watches } = ensemble.leader.pipeline;
  const { fanOut, watchCount, pathCount, watcherCount, dataCounts } = watches;
  const { created, deleted, dataChanged, childrenChanged } = fanOut;
  const told = [created, deleted, dataChanged, childrenChanged].map(({ count, sum }) => [
    count,
    sum,
  ]);
  return { watchCount, pathCount, watcherCount, dataCounts, told };
}

describe('what a client is answered', () => {
  it('does not depend on changes of znodes that it may not read', () => {
    const plans = fc.array(steps(), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(plans, (plan) => {
        const worlds = [newWorld(), newWorld()] as const;
        for (const { acts } of plan) {
          const [first, second] = worlds.map((world, index) => {
            acts[index]?.(world);
            world.ensemble.settle();
            const frames = world.asker.takeFrames();
            return frames.map((frame) => Buffer.from(frame).toString('hex'));
          });
          expect(second).toEqual(first);
          expect(figuresOf(worlds[1])).toEqual(figuresOf(worlds[0]));
        }
      }),
      { numRuns: 300 },
    );
  });
});
