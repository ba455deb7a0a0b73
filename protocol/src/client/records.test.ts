/**
 * Goal: every record of the client protocol survives the wire and no garbage breaks a codec.
 * Method: random values for each request and response, and random or damaged bytes for all.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Codec, decode, encode } from '../jute/codec.js';
import { MarshallingError } from '../jute/errors.js';
import { INT64_MAX, INT64_MIN, toInt64 } from '../jute/int64.js';
import { JuteReader } from '../jute/reader.js';
import { Acl, ReplyHeader, RequestHeader, STAT_BYTES, Stat } from './hot-records.js';
import {
  countMultiOps,
  type MultiReadResult,
  MultiRequest,
  type MultiRequestOp,
  type MultiResult,
} from './multi.js';
import { OpCode, opcodeName } from './opcodes.js';
import { OPERATIONS } from './operations.js';
import {
  ConnectRequest,
  ConnectResponse,
  GetEphemeralsRequest,
  ReconfigRequest,
  WatcherEvent,
} from './records.js';

/** Only the synchronous overload: an asynchronous property does not compile. */
const holds: <T>(property: fc.IProperty<T>, parameters?: fc.Parameters<T>) => void = fc.assert;

const int = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });
const long = fc.bigInt({ min: INT64_MIN, max: INT64_MAX }).map(toInt64);
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const texts = fc.array(text, { maxLength: 5 });
const bytes = fc.option(
  fc.uint8Array({ maxLength: 30 }).map((array) => Buffer.from(array)),
  { nil: null },
);
const textOrNull = fc.option(text, { nil: null });
const stat: fc.Arbitrary<Stat> = fc.record({
  czxid: long,
  mzxid: long,
  ctime: long,
  mtime: long,
  version: int,
  cversion: int,
  aversion: int,
  ephemeralOwner: long,
  dataLength: int,
  numChildren: int,
  pzxid: long,
});
const acl: fc.Arbitrary<Acl> = fc.record({ perms: int, scheme: text, id: text });
const acls = fc.array(acl, { maxLength: 4 });
const aclsOrNull = fc.option(acls, { nil: null });
const empty = fc.constant(null);
const path = fc.record({ path: text });
const pathWatch = fc.record({ path: text, watch: fc.boolean() });
const pathVersion = fc.record({ path: text, version: int });
const pathType = fc.record({ path: text, type: int });
const create = fc.record({ path: text, data: bytes, acl: aclsOrNull, flags: int });
const createTtl = fc.record({ path: text, data: bytes, acl: aclsOrNull, flags: int, ttlMs: long });
const setData = fc.record({ path: text, data: bytes, version: int });
const dataAndStat = fc.record({ data: bytes, stat });
const pathAndStat = fc.record({ path: text, stat });
const onlyStat = fc.record({ stat });
const token = fc.record({ token: bytes });
const watches = {
  relativeZxid: long,
  dataWatches: texts,
  existWatches: texts,
  childWatches: texts,
};
const clientInfo = fc.record({ authScheme: text, user: text });

const failed = fc.record({ opcode: fc.constant(OpCode.error), error: int });
const multiOp: fc.Arbitrary<MultiRequestOp> = fc.oneof(
  fc.record({
    opcode: fc.constantFrom(OpCode.create, OpCode.create2, OpCode.createContainer),
    request: create,
  }),
  fc.record({ opcode: fc.constant(OpCode.createTtl), request: createTtl }),
  fc.record({ opcode: fc.constantFrom(OpCode.delete, OpCode.check), request: pathVersion }),
  fc.record({ opcode: fc.constant(OpCode.setData), request: setData }),
);
const multiReadOp = fc.record({
  opcode: fc.constantFrom(OpCode.getData, OpCode.getChildren),
  request: pathWatch,
});
const multiResult: fc.Arbitrary<MultiResult> = fc.oneof(
  fc.record({ opcode: fc.constant(OpCode.create), path: text }),
  fc.record({ opcode: fc.constant(OpCode.create2), path: text, stat }),
  fc.record({ opcode: fc.constant(OpCode.setData), stat }),
  fc.record({ opcode: fc.constantFrom(OpCode.delete, OpCode.check) }),
  failed,
);
const multiReadResult: fc.Arbitrary<MultiReadResult> = fc.oneof(
  fc.record({ opcode: fc.constant(OpCode.getData), data: bytes, stat }),
  fc.record({ opcode: fc.constant(OpCode.getChildren), children: texts }),
  failed,
);

type Bodies = {
  readonly [K in keyof typeof OPERATIONS]: (typeof OPERATIONS)[K] extends {
    readonly request: Codec<infer Request>;
    readonly response: Codec<infer Response>;
  }
    ? readonly [fc.Arbitrary<Request>, fc.Arbitrary<Response>]
    : never;
};

/** A missing operation or field does not compile. */
const BODIES: Bodies = {
  [OpCode.create]: [create, path],
  [OpCode.delete]: [pathVersion, empty],
  [OpCode.exists]: [pathWatch, onlyStat],
  [OpCode.getData]: [pathWatch, dataAndStat],
  [OpCode.setData]: [setData, onlyStat],
  [OpCode.getAcl]: [path, fc.record({ acl: acls, stat })],
  [OpCode.setAcl]: [fc.record({ path: text, acl: aclsOrNull, version: int }), onlyStat],
  [OpCode.getChildren]: [pathWatch, fc.record({ children: texts })],
  [OpCode.sync]: [path, path],
  [OpCode.ping]: [empty, empty],
  [OpCode.getChildren2]: [pathWatch, fc.record({ children: texts, stat })],
  [OpCode.check]: [pathVersion, empty],
  [OpCode.multi]: [
    fc.record({ ops: fc.array(multiOp, { maxLength: 5 }) }),
    fc.record({ results: fc.array(multiResult, { maxLength: 5 }) }),
  ],
  [OpCode.create2]: [create, pathAndStat],
  [OpCode.reconfig]: [
    fc.record({
      joiningServers: textOrNull,
      leavingServers: textOrNull,
      newMembers: textOrNull,
      currentConfigId: long,
    }),
    dataAndStat,
  ],
  [OpCode.checkWatches]: [pathType, empty],
  [OpCode.removeWatches]: [pathType, empty],
  [OpCode.createContainer]: [create, pathAndStat],
  [OpCode.deleteContainer]: [path, empty],
  [OpCode.createTtl]: [createTtl, pathAndStat],
  [OpCode.multiRead]: [
    fc.record({ ops: fc.array(multiReadOp, { maxLength: 5 }) }),
    fc.record({ results: fc.array(multiReadResult, { maxLength: 5 }) }),
  ],
  [OpCode.auth]: [fc.record({ type: int, scheme: text, auth: bytes }), empty],
  [OpCode.setWatches]: [fc.record(watches), empty],
  [OpCode.sasl]: [token, token],
  [OpCode.getEphemerals]: [fc.record({ prefixPath: text }), fc.record({ ephemerals: texts })],
  [OpCode.getAllChildrenNumber]: [path, fc.record({ totalNumber: int })],
  [OpCode.setWatches2]: [
    fc.record({ ...watches, persistentWatches: texts, persistentRecursiveWatches: texts }),
    empty,
  ],
  [OpCode.addWatch]: [fc.record({ path: text, mode: int }), fc.record({ error: int })],
  [OpCode.whoAmI]: [empty, fc.record({ clientInfo: fc.array(clientInfo, { maxLength: 3 }) })],
  [OpCode.getChildrenPage]: [
    fc.record({ path: text, startAfter: text, limit: int, watch: fc.boolean() }),
    fc.record({ children: texts, stat, more: fc.boolean() }),
  ],
  [OpCode.raiseSequence]: [fc.record({ path: text, atLeast: int }), fc.record({ next: int })],
  [OpCode.createSession]: [fc.record({ timeoutMs: int }), empty],
  [OpCode.closeSession]: [empty, empty],
};

function survives<T>(codec: Codec<T>, values: fc.Arbitrary<T>): void {
  holds(
    fc.property(values, (value) => {
      const once = encode(codec, value);
      const read = decode(codec, once);
      // fast-check's objects have no prototype.
      expect(JSON.stringify(read, plain)).toBe(JSON.stringify(value, plain));
      expect(Buffer.compare(encode(codec, read), once)).toBe(0);
    }),
    { numRuns: 40 },
  );
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

const codecs: (readonly [string, Codec<unknown>, fc.Arbitrary<unknown>])[] = Object.entries(
  OPERATIONS,
).flatMap(([opcode, operation]) => {
  const [request, response] = Object.entries(BODIES).find(([key]) => key === opcode)?.[1] ?? [];
  if (request === undefined || response === undefined) throw new Error(`no bodies of ${opcode}`);
  const name = opcodeName(Number(opcode));
  return [
    [`request of ${name}`, operation.request, request] as const,
    [`response of ${name}`, operation.response, response] as const,
  ];
});
const connect = {
  protocolVersion: int,
  timeoutMs: int,
  sessionId: long,
  password: bytes,
  readOnly: fc.option(fc.boolean(), { nil: null }),
};
codecs.push(
  ['RequestHeader', RequestHeader, fc.record({ xid: int, type: int })],
  ['ReplyHeader', ReplyHeader, fc.record({ xid: int, zxid: long, error: int })],
  ['WatcherEvent', WatcherEvent, fc.record({ type: int, state: int, path: text })],
  [
    'ConnectRequest',
    ConnectRequest,
    fc.record({
      protocolVersion: int,
      lastZxidSeen: long,
      timeoutMs: int,
      sessionId: long,
      password: bytes,
      readOnly: connect.readOnly,
    }),
  ],
  ['ConnectResponse', ConnectResponse, fc.record(connect)],
);

describe('every record', () => {
  it.each(codecs)('%s comes back as it went', (_name, codec, values) => {
    survives(codec, values);
  });

  it.each(codecs)('%s reads any bytes or throws a MarshallingError', (_name, codec) => {
    holds(
      fc.property(fc.uint8Array({ maxLength: 80 }), (garbage) => readsOrRefuses(codec, garbage)),
      { numRuns: 60 },
    );
  });

  it.each(codecs)(
    '%s reads what one changed byte or a cut makes of it, or refuses',
    (_name, codec, values) => {
      const damage = fc.record({
        value: values,
        at: fc.nat(),
        byte: fc.nat(255),
        cut: fc.boolean(),
      });
      holds(
        fc.property(damage, ({ value, at, byte, cut }) => {
          const whole = Buffer.from(encode(codec, value));
          if (whole.length === 0) return;
          const index = at % whole.length;
          whole[index] = byte;
          readsOrRefuses(codec, cut ? whole.subarray(0, index) : whole);
        }),
        { numRuns: 60 },
      );
    },
  );
});

function readsOrRefuses(codec: Codec<unknown>, garbage: Uint8Array): void {
  try {
    decode(codec, garbage);
  } catch (error) {
    expect(error).toBeInstanceOf(MarshallingError);
  }
}

describe('nulls', () => {
  it('of an ACL entry are read as empty strings, as kazoo sends those', () => {
    const nulls = Buffer.from('0000001fffffffffffffffff', 'hex');
    expect(decode(Acl, nulls)).toEqual({ perms: 31, scheme: '', id: '' });
  });

  it('of reconfig and getEphemerals are accepted', () => {
    const reconfig = Buffer.from('ffffffffffffffffffffffffffffffffffffffff', 'hex');
    expect(decode(ReconfigRequest, reconfig)).toEqual({
      joiningServers: null,
      leavingServers: null,
      newMembers: null,
      currentConfigId: -1,
    });
    expect(decode(GetEphemeralsRequest, Buffer.alloc(4, 0xff))).toEqual({ prefixPath: '' });
  });

  it('are refused as a path and accepted as a list of watches', () => {
    const getData = OPERATIONS[OpCode.getData].request;
    expect(() => decode(getData, Buffer.from('ffffffff00', 'hex'))).toThrowError(MarshallingError);
    const setWatches = OPERATIONS[OpCode.setWatches].request;
    expect(decode(setWatches, Buffer.alloc(20, 0xff)).dataWatches).toEqual([]);
  });
});

describe('multi', () => {
  it('refuses reads, a nested multi and unknown operations', () => {
    const header = (opcode: number) => {
      const bytes = Buffer.alloc(9);
      bytes.writeInt32BE(opcode);
      return Buffer.concat([bytes, Buffer.alloc(40)]);
    };
    for (const opcode of [OpCode.getData, OpCode.multi, OpCode.sync, OpCode.closeSession, 77]) {
      expect(() => decode(OPERATIONS[OpCode.multi].request, header(opcode))).toThrowError(
        MarshallingError,
      );
    }
    for (const opcode of [OpCode.create, OpCode.exists, OpCode.getChildren2]) {
      expect(() => decode(OPERATIONS[OpCode.multiRead].request, header(opcode))).toThrowError(
        MarshallingError,
      );
    }
  });
});

describe('the count of the operations of a multi', () => {
  it('is that of what is decoded, and of a damaged one at most so many', () => {
    holds(
      fc.property(fc.array(multiOp, { maxLength: 20 }), fc.nat(), fc.nat(255), (ops, at, byte) => {
        const request = Buffer.from(encode(MultiRequest, { ops }));
        expect(countMultiOps(new JuteReader(request), 20)).toBe(ops.length);
        expect(countMultiOps(new JuteReader(request), 3)).toBe(Math.min(3, ops.length));
        const cut = request.subarray(0, at % request.length);
        expect(countMultiOps(new JuteReader(cut), 20)).toBeLessThanOrEqual(ops.length);
        request[at % request.length] = byte;
        expect(countMultiOps(new JuteReader(request), 20)).toBeLessThanOrEqual(20);
      }),
    );
  });
});

describe('Stat', () => {
  it('has 68 bytes', () => {
    const [value] = fc.sample(stat, 1);
    expect(value && encode(Stat, value).length).toBe(STAT_BYTES);
  });
});
