// Tests that no request is answered with more than a bound, however long the names in the tree are,
// and that what lists a directory is judged before anything of it is made.
import {
  AddWatchRequest,
  type Codec,
  decode,
  encode,
  FrameTooLargeError,
  GetChildrenPageRequest,
  GetChildrenPageResponse,
  GetEphemeralsRequest,
  MultiReadRequest,
  MultiReadResponse,
  nothing,
  OpCode,
  PathRequest,
  PathWatchRequest,
  SetWatches2Request,
  SetWatchesRequest,
  WatchesRequest,
} from '@rookery/protocol';
import { describe, expect, it, vi } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { LIST_BYTES_MAX } from './read-scene.js';
import { classOf } from './request.js';

const EPHEMERAL = 1;
const NAME_CHARACTERS = 65_000;
const COUNT = Math.ceil(LIST_BYTES_MAX / NAME_CHARACTERS) + 1;
/** A page, and the first name whatever its size. */
const PAGE_BYTES_MAX = (256 << 10) + (64 << 10) + 128;

const LONG = { path: '/long', watch: true };
const LIST = { opcode: OpCode.getChildren, request: LONG } as const;
const DATA = { opcode: OpCode.getData, request: LONG } as const;
const WATCHES = { path: LONG.path, type: 3 };

interface Read {
  readonly body: Uint8Array;
  /** The code of the answer for a directory whose names have more bytes than a list may. */
  readonly error: number;
}
function read<T>(codec: Codec<T>, body: T, error = 0): Read {
  return { body: encode(codec, body), error };
}

/** Each request that a member answers by itself. */
const READS: ReadonlyMap<number, Read> = new Map([
  [OpCode.exists, read(PathWatchRequest, LONG)],
  [OpCode.getData, read(PathWatchRequest, LONG)],
  [OpCode.getAcl, read(PathRequest, LONG)],
  [OpCode.getChildren, read(PathWatchRequest, LONG, -125)],
  [OpCode.getChildren2, read(PathWatchRequest, LONG, -125)],
  [OpCode.ping, read(nothing, undefined)],
  [
    OpCode.setWatches,
    read(SetWatchesRequest, {
      relativeZxid: 1,
      dataWatches: [],
      existWatches: [],
      childWatches: [LONG.path],
    }),
  ],
  [
    OpCode.setWatches2,
    read(SetWatches2Request, {
      relativeZxid: 1,
      dataWatches: [],
      existWatches: [],
      childWatches: [LONG.path],
      persistentWatches: [],
      persistentRecursiveWatches: [],
    }),
  ],
  [OpCode.addWatch, read(AddWatchRequest, { path: LONG.path, mode: 1 })],
  [OpCode.checkWatches, read(WatchesRequest, WATCHES)],
  [OpCode.removeWatches, read(WatchesRequest, WATCHES)],
  [OpCode.multiRead, read(MultiReadRequest, { ops: [LIST, DATA, LIST, LIST] })],
  [OpCode.getEphemerals, read(GetEphemeralsRequest, { prefixPath: '' }, -125)],
  [OpCode.getAllChildrenNumber, read(PathRequest, LONG)],
  [OpCode.getChildrenPage, read(GetChildrenPageRequest, { ...LONG, startAfter: '', limit: 1000 })],
  [OpCode.whoAmI, read(nothing, undefined)],
]);

function nameOf(index: number): string {
  return String(index).padEnd(NAME_CHARACTERS, 'x');
}

function withLongNames(): { ensemble: TestEnsemble; client: TestClient } {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  client.create(LONG.path);
  for (let index = 0; index < COUNT; index++) {
    client.create(`${LONG.path}/${nameOf(index)}`, { flags: EPHEMERAL });
    ensemble.settle();
    client.take();
  }
  return { ensemble, client };
}

describe('a directory whose names have more bytes than a list may', () => {
  const { ensemble, client } = withLongNames();
  const { tree } = ensemble.leader.state;
  const made = [vi.spyOn(tree, 'writeChildren'), vi.spyOn(tree, 'children')];

  it('is what every read is tried with', () => {
    const reads = Object.values(OpCode).filter((opcode) => classOf(opcode) === 'read');
    expect([...READS.keys()].sort()).toEqual(reads.sort());
    expect(tree.listedBytes(tree.find(LONG.path))).toBeGreaterThan(LIST_BYTES_MAX);
  });

  for (const [opcode, { body, error }] of READS) {
    it(`is nothing that an answer to ${opcode} grows with`, () => {
      for (const spy of made) spy.mockClear();
      client.sendRaw(opcode, body);
      const replies = client.take();
      const bytes = replies.reduce((sum, reply) => sum + reply.body.length, 0);
      expect(bytes).toBeLessThan(PAGE_BYTES_MAX);
      expect(replies.at(-1)?.error).toBe(error);
      // For the pages of a small directory all of its names are sorted each time.
      if (opcode !== OpCode.getChildrenPage) for (const spy of made) expect(spy).not.toBeCalled();
      expect(client.state).toBe('open');
    });
  }

  it('leaves no watch behind where its list is refused', () => {
    const other = ensemble.connect();
    for (const opcode of [OpCode.getChildren, OpCode.getChildren2]) {
      other.read(opcode, LONG.path, true);
      expect(other.takeOne().error).toBe(-125);
    }
    client.create(`${LONG.path}/one-more`);
    ensemble.settle();
    expect(other.take()).toEqual([]);
    client.take();
  });

  it('is refused by -125 in a multiRead, and the others are answered', () => {
    client.send(OpCode.multiRead, MultiReadRequest, { ops: [LIST, DATA, LIST] });
    const { results } = decode(MultiReadResponse, client.takeOne().body);
    const refused = { opcode: -1, error: -125 };
    expect(results).toMatchObject([refused, { opcode: OpCode.getData }, refused]);
  });

  it('can be read in pages', () => {
    for (const spy of made) spy.mockRestore();
    const names = Array.from({ length: COUNT }, (_, index) => nameOf(index)).sort();
    for (const startAfter of ['', names[7] ?? '', names.at(-2) ?? '']) {
      const request = { path: LONG.path, watch: false, startAfter, limit: 3 };
      client.send(OpCode.getChildrenPage, GetChildrenPageRequest, request);
      const page = decode(GetChildrenPageResponse, client.takeOne().body);
      const wanted = names.filter((name) => name > startAfter).slice(0, 3);
      expect(page.children.slice(0, wanted.length).join() === wanted.join()).toBe(true);
    }
  });
});

describe('the bound of a list of children', () => {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  const { tree } = ensemble.leader.state;

  it('is exact', () => {
    const listedBytes = vi.spyOn(tree, 'listedBytes');
    for (const opcode of [OpCode.getChildren, OpCode.getChildren2]) {
      for (const [bytes, error] of [
        [LIST_BYTES_MAX, 0],
        [LIST_BYTES_MAX + 1, -125],
      ] as const) {
        listedBytes.mockReturnValueOnce(bytes);
        client.read(opcode, '/');
        expect(client.takeOne().error).toBe(error);
      }
    }
    listedBytes.mockRestore();
  });

  it('is judged without a look at the names where there are too many', () => {
    const childCount = vi.spyOn(tree, 'childCount').mockReturnValueOnce(LIST_BYTES_MAX / 4);
    const listedBytes = vi.spyOn(tree, 'listedBytes');
    client.read(OpCode.getChildren, '/');
    expect(client.takeOne().error).toBe(-125);
    expect(listedBytes).not.toBeCalled();
    childCount.mockRestore();
  });

  it('counts the answers of one multiRead together, before they are made', () => {
    const listedBytes = vi.spyOn(tree, 'listedBytes');
    const list = { opcode: OpCode.getChildren, request: { path: '/', watch: false } } as const;
    const results = (...sizes: readonly number[]) => {
      for (const size of sizes) listedBytes.mockReturnValueOnce(size);
      client.send(OpCode.multiRead, MultiReadRequest, { ops: sizes.map(() => list) });
      return decode(MultiReadResponse, client.takeOne().body).results;
    };
    const throttled = { opcode: -1, error: -127 };
    const listed = { opcode: OpCode.getChildren };
    expect(results(5 << 20, 2 << 20, 2 << 20)).toMatchObject([listed, listed, throttled]);
    expect(results(8 << 20, 4)).toMatchObject([{ opcode: -1, error: -125 }, listed]);
    listedBytes.mockRestore();
  });
});

describe('an answer that is larger than any frame', () => {
  it('ends its connection, and no other', () => {
    const ensemble = new TestEnsemble();
    const [client, other] = [ensemble.connect(), ensemble.connect()];
    vi.spyOn(client.writer, 'endFrame').mockImplementation(() => {
      client.writer.reset();
      throw new FrameTooLargeError('a frame would have 2147483648 bytes');
    });
    client.getData('/');
    ensemble.settle();
    expect(client.state).toBe('closed');
    expect(client.closedBecause).toMatch(/larger than any frame/);
    other.getData('/');
    expect(other.takeOne().error).toBe(0);
  });
});
