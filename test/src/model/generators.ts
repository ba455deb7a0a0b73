/**
 * Random operations: few names and few values, so that the operations affect each other.
 *
 * Operations whose result depends on other sequences are not generated: a watch on a node that all
 * sequences share, and a negative time to live with a plain flag, which stops ZooKeeper's members.
 * plans.ts uses the generators.
 */
import fc from 'fast-check';
import { ACLS, type AclName, type MultiOp, type Operation } from './operations.js';

export const PATHS = ['', '/a', '/b', '/a/a', '/a/b', '/b/a', '/a/a/a', '/a/b/c', '/e', '/e/a'];
const WATCHED_PATHS = ['/a', '/b', '/a/a'];
const MADE_PATHS = ['/a/0000000000', '/a/0000000001', '/a/s-0000000000', '/s-0000000001'];
const SEQUENTIAL_PATHS = ['/a/', '/a/s-', '/s-', '/b/', '/'];
const ODD_PATHS = [
  '/a/',
  '//a',
  '/a/./b',
  '/a/..',
  '/a/\u0001',
  '/x\0y',
  '!relative',
  '!',
  '/nope/a',
];
const SPECIAL_PATHS = ['!/', '!/zookeeper', '!/zookeeper/quota', '!/zookeeper/config'];
const ACL_NAMES = Object.keys(ACLS) as AclName[];

/**
 * A tree for runs that cannot create one: data of all kinds, some of it not readable by everybody.
 */
export const MADE_BEFORE: readonly Operation[] = [
  ...[...PATHS.slice(1), '/a/0000000000', '/s-0000000001'].map((path, index): Operation => {
    const data = [null, '', 'there'][index % 3] ?? null;
    return { op: 'create', path, data, acl: 'open', flags: index % 4 === 3 ? 4 : 0, ttlMs: 0 };
  }),
  { op: 'setData', path: '/a', data: 'some data', version: 0 },
  { op: 'setAcl', path: '/a/b', acl: 'noRead', version: -1 },
  { op: 'setAcl', path: '/b/a', acl: 'alice', version: 0 },
  { op: 'setAcl', path: '/a/a', acl: 'aliceAdmin', version: -1 },
  { op: 'setAcl', path: '/e', acl: 'elsewhere', version: -1 },
  { op: 'delete', path: '/s-0000000001', version: -1 },
];

const anyPath = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 4, arbitrary: fc.constantFrom(...MADE_PATHS) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_PATHS) },
);
const data = fc.constantFrom('', 'x', 'some data', null);
const version = fc.oneof(
  { weight: 6, arbitrary: fc.constant(-1) },
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 2) },
  { weight: 1, arbitrary: fc.constantFrom(-2, 7, 2 ** 31 - 1, -(2 ** 31)) },
);
const acl = fc.oneof(
  { weight: 30, arbitrary: fc.constant<AclName>('open') },
  { weight: 4, arbitrary: fc.constantFrom(...ACL_NAMES) },
);
const watch = fc.boolean();

const plainCreate = fc.record({
  op: fc.constantFrom('create' as const, 'create2' as const),
  path: anyPath,
  data,
  acl,
  flags: fc.oneof(
    { weight: 12, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constantFrom(4, 5, 9, -1) },
  ),
  ttlMs: fc.constant(0),
});
const sequentialCreate = fc.record({
  op: fc.constantFrom('create' as const, 'create2' as const),
  path: fc.constantFrom(...SEQUENTIAL_PATHS, '/a', '/nope/', '//', '/e/'),
  data,
  acl,
  flags: fc.constantFrom(2, 3),
  ttlMs: fc.constant(0),
});
/** A sequential node at the prefix itself would be its sibling. */
const isOwn = (path: string) => path !== '';

const container = fc.record({
  op: fc.constant('createContainer' as const),
  path: anyPath.filter(isOwn),
  data,
  acl,
  flags: fc.constantFrom(4, 4, 4, 0, 2),
  ttlMs: fc.constant(0),
});
const timedPath = fc.oneof(anyPath, fc.constantFrom(...SEQUENTIAL_PATHS)).filter(isOwn);
/**
 * A plain flag with a negative time to live is left out: ZooKeeper's members would log it and stop.
 */
const ttl = fc.oneof(
  { weight: 8, arbitrary: timed(fc.constantFrom(5, 6), fc.constant(3_600_000)) },
  { weight: 1, arbitrary: timed(fc.constantFrom(5, 6), fc.constantFrom(0, -1, 2 ** 40)) },
  { weight: 1, arbitrary: timed(fc.constantFrom(0, 1), fc.constantFrom(0, 3_600_000)) },
);
function timed(flags: fc.Arbitrary<number>, ttlMs: fc.Arbitrary<number>) {
  const op = fc.constant('createTtl' as const);
  return fc.record({ op, path: timedPath, data, acl, flags, ttlMs });
}
const remove = fc.record({
  op: fc.constant('delete' as const),
  path: fc.oneof(
    { weight: 30, arbitrary: anyPath.filter((path) => path !== '') },
    { weight: 1, arbitrary: fc.constantFrom(...SPECIAL_PATHS) },
  ),
  version,
});
const setData = fc.record({ op: fc.constant('setData' as const), path: anyPath, data, version });
const check = fc.record({ op: fc.constant('check' as const), path: anyPath, version });
const setAcl = fc.record({
  op: fc.constant('setAcl' as const),
  path: anyPath,
  acl: fc.constantFrom(...ACL_NAMES, 'open' as const, 'open' as const, 'open' as const),
  version,
});

/** Inside a multi the flag decides, whatever the opcode. */
const oddCreate = fc.record({
  op: fc.constantFrom('create' as const, 'create2', 'createContainer', 'createTtl'),
  path: timedPath,
  data,
  acl,
  flags: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 9, -1),
  ttlMs: fc.constantFrom(3_600_000, 3_600_000, 0, 2 ** 40),
});
const multiOp: fc.Arbitrary<MultiOp> = fc.oneof(
  { weight: 6, arbitrary: plainCreate.filter(({ flags }) => flags === 0 || flags === 1) },
  { weight: 2, arbitrary: sequentialCreate },
  { weight: 1, arbitrary: container },
  { weight: 1, arbitrary: ttl.filter(({ flags }) => flags > 4) },
  { weight: 2, arbitrary: oddCreate },
  { weight: 3, arbitrary: remove },
  { weight: 4, arbitrary: setData },
  { weight: 2, arbitrary: check },
);
const multi = fc.record({
  op: fc.constant('multi' as const),
  ops: fc.array(multiOp, { maxLength: 5, size: 'max' }),
});

const read = fc.record({
  op: fc.constantFrom('exists' as const, 'getData', 'getChildren', 'getChildren2'),
  path: anyPath.filter((path) => path !== '!'),
  watch,
});
/**
 * These nodes are shared by all sequences, so they are read without a watch; the reads of `!` are
 * of the empty path.
 */
const sharedRead = fc.record({
  op: fc.constantFrom('exists' as const, 'getData', 'getChildren', 'getChildren2'),
  path: fc.constantFrom('!', ...SPECIAL_PATHS),
  watch: fc.constant(false),
});
const pathRead = fc.record({
  op: fc.constantFrom('getAcl' as const, 'getAllChildrenNumber', 'sync'),
  path: fc.oneof(
    { weight: 20, arbitrary: anyPath },
    { weight: 1, arbitrary: fc.constantFrom(...SPECIAL_PATHS) },
  ),
});
const ephemerals = fc.record({
  op: fc.constant('getEphemerals' as const),
  path: fc.constantFrom('!', '!/', '', '/a', '/e', '/s'),
});
const page = fc.record({
  op: fc.constant('getChildrenPage' as const),
  path: anyPath,
  startAfter: fc.constantFrom('', 'a', '0000000000', 's'),
  limit: fc.constantFrom(1, 2, 100, 0),
  watch,
});
const multiRead = fc.record({
  op: fc.constant('multiRead' as const),
  reads: fc.array(
    fc.record({
      op: fc.constantFrom('getData' as const, 'getChildren' as const),
      path: fc.oneof(
        { weight: 10, arbitrary: anyPath },
        { weight: 1, arbitrary: fc.constantFrom(...SPECIAL_PATHS) },
      ),
    }),
    { maxLength: 4, size: 'max' },
  ),
});
const watches = fc.record({
  op: fc.constantFrom('checkWatches' as const, 'removeWatches' as const),
  path: fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(...PATHS) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_PATHS) },
  ),
  type: fc.constantFrom(1, 2, 3, 3, 4, 5, 0, -1, 6),
});
const addWatch = fc.record({
  op: fc.constant('addWatch' as const),
  path: anyPath,
  mode: fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(0, 1) },
    { weight: 1, arbitrary: fc.constantFrom(2, -1) },
  ),
});
const somePaths = fc.uniqueArray(fc.constantFrom(...PATHS, ...MADE_PATHS, '/a/', '!relative'), {
  maxLength: 3,
});
const setWatches = fc.record({
  op: fc.constantFrom('setWatches' as const, 'setWatches2' as const),
  writesBack: fc.constantFrom(0, 0, 1, 3, 100),
  data: somePaths,
  exist: somePaths,
  child: somePaths,
  persistent: somePaths,
  recursive: somePaths,
});
/** One path with every mode of watch, and operations that remove some of them again. */
const watchMix = fc.constantFrom(...WATCHED_PATHS).chain((path) => {
  const at = { path: fc.constant(path) };
  const reads = fc.constantFrom('exists' as const, 'getData', 'getChildren', 'getChildren2');
  const change = fc.constantFrom<Operation>(
    { op: 'create', path, data: 'm', acl: 'open', flags: 0, ttlMs: 0 },
    { op: 'create', path: `${path}/m`, data: null, acl: 'open', flags: 0, ttlMs: 0 },
    { op: 'setData', path, data: 'mm', version: -1 },
    { op: 'delete', path: `${path}/m`, version: -1 },
    { op: 'delete', path, version: -1 },
  );
  const step: fc.Arbitrary<Operation> = fc.oneof(
    fc.record({ ...at, op: fc.constant('addWatch' as const), mode: fc.constantFrom(0, 1) }),
    fc.record({ ...at, op: reads, watch: fc.constant(true) }),
    fc.record({
      ...at,
      op: fc.constantFrom('checkWatches' as const, 'removeWatches' as const),
      type: fc.constantFrom(1, 2, 3, 4, 5),
    }),
    change,
  );
  return fc.array(step, { minLength: 3, maxLength: 8, size: 'max' });
});
const whoAmI = fc.constant({ op: 'whoAmI' as const });

function operation(pages: boolean): fc.Arbitrary<Operation> {
  return fc.oneof(
    { weight: 14, arbitrary: plainCreate },
    { weight: 5, arbitrary: sequentialCreate },
    { weight: 2, arbitrary: container },
    { weight: 2, arbitrary: ttl },
    { weight: 8, arbitrary: remove },
    { weight: 8, arbitrary: setData },
    { weight: 3, arbitrary: setAcl },
    { weight: 5, arbitrary: multi },
    { weight: 24, arbitrary: read },
    { weight: 1, arbitrary: sharedRead },
    { weight: 4, arbitrary: pathRead },
    { weight: 2, arbitrary: ephemerals },
    { weight: pages ? 2 : 0, arbitrary: page },
    { weight: 2, arbitrary: multiRead },
    { weight: 4, arbitrary: addWatch },
    { weight: 3, arbitrary: watches },
    { weight: 3, arbitrary: setWatches },
    { weight: 1, arbitrary: whoAmI },
  );
}

/** Up to `max` operations, or a few more where watches of one path are mixed in. */
export function operations(limits: {
  readonly max: number;
  readonly pages: boolean;
}): fc.Arbitrary<readonly Operation[]> {
  const single = operation(limits.pages).map((only): readonly Operation[] => [only]);
  const some = fc.oneof(
    { weight: 40, arbitrary: single },
    { weight: 1, arbitrary: watchMix.map((all): readonly Operation[] => all) },
  );
  return fc
    .array(some, { minLength: 1, maxLength: limits.max, size: 'max' })
    .map((lists) => lists.flat());
}
