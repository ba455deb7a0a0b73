/**
 * Random sequences: which sessions do what, in bursts, where they connect, when they vanish.
 *
 * A plan is plain data, so that fast-check can shrink it and a person can read it. Few names and
 * few values, so that operations meet each other. Bursts go out whole, in one write each.
 */
import fc from 'fast-check';
import {
  ACLS,
  type AclName,
  describeOperation,
  type MultiOp,
  type Operation,
  type UserName,
} from './operations.js';

export interface Burst {
  readonly step: 'burst';
  readonly session: number;
  /** The member to connect to if there is no connection; counted from 0. */
  readonly member: number;
  /** Gives up the present connection first and resumes at `member`. */
  readonly moves: boolean;
  /** Sent before everything else. */
  readonly auth: UserName | null;
  readonly operations: readonly Operation[];
}
export interface Leave {
  readonly step: 'vanish' | 'close';
  readonly session: number;
}
export type Step = Burst | Leave;
export type Plan = readonly Step[];

export interface PlanLimits {
  readonly sessions: number;
  readonly members: number;
  readonly steps: number;
  readonly operations: number;
  readonly pages: boolean;
}

const PATHS = ['', '/a', '/b', '/a/a', '/a/b', '/b/a', '/a/a/a', '/a/b/c', '/e', '/e/a'];
const MADE_PATHS = ['/a/0000000000', '/a/0000000001', '/a/s-0000000000', '/s-0000000001'];
const SEQUENTIAL_PATHS = ['/a/', '/a/s-', '/s-', '/b/', '/'];
const ODD_PATHS = ['/a/', '//a', '/a/./b', '/a/..', '/a/\u0001', '/x\0y', '!relative', '/nope/a'];
const SPECIAL_PATHS = ['!/', '!/zookeeper', '!/zookeeper/quota', '!/zookeeper/config'];
const ACL_NAMES = Object.keys(ACLS) as AclName[];

const anyPath = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 4, arbitrary: fc.constantFrom(...MADE_PATHS) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_PATHS) },
);
const data = fc.constantFrom('', 'x', 'some data', null);
const version = fc.oneof(
  { weight: 6, arbitrary: fc.constant(-1) },
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 2) },
  { weight: 1, arbitrary: fc.constantFrom(-2, 7) },
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
/** A sequential node at the prefix itself would lie beside it. */
const isOwn = (path: string) => path !== '';

const container = fc.record({
  op: fc.constant('createContainer' as const),
  path: anyPath,
  data,
  acl,
  flags: fc.constant(4),
  ttlMs: fc.constant(0),
});
const timedPath = fc.oneof(anyPath, fc.constantFrom(...SEQUENTIAL_PATHS)).filter(isOwn);
/** A plain flag with a negative ttl is left out: ZooKeeper's members would log it and stop. */
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

/** Flags that 3.8.0 takes for another operation inside a multi are left out there. */
const multiOp: fc.Arbitrary<MultiOp> = fc.oneof(
  { weight: 6, arbitrary: plainCreate.filter(({ flags }) => flags === 0 || flags === 1) },
  { weight: 2, arbitrary: sequentialCreate },
  { weight: 1, arbitrary: container },
  { weight: 1, arbitrary: ttl.filter(({ flags }) => flags > 4) },
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
  path: anyPath,
  watch,
});
const pathRead = fc.record({
  op: fc.constantFrom('getAcl' as const, 'getAllChildrenNumber', 'sync'),
  path: anyPath,
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
    fc.record({ op: fc.constantFrom('getData' as const, 'getChildren' as const), path: anyPath }),
    { maxLength: 4, size: 'max' },
  ),
});
const watches = fc.record({
  op: fc.constantFrom('checkWatches' as const, 'removeWatches' as const),
  path: fc.constantFrom(...PATHS),
  type: fc.constantFrom(1, 2, 3, 3, 4, 5, 0),
});
const addWatch = fc.record({
  op: fc.constant('addWatch' as const),
  path: anyPath,
  mode: fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(0, 1) },
    { weight: 1, arbitrary: fc.constantFrom(2, -1) },
  ),
});
const somePaths = fc.uniqueArray(fc.constantFrom(...PATHS, ...MADE_PATHS), { maxLength: 3 });
const setWatches = fc.record({
  op: fc.constantFrom('setWatches' as const, 'setWatches2' as const),
  writesBack: fc.constantFrom(0, 0, 1, 3, 100),
  data: somePaths,
  exist: somePaths,
  child: somePaths,
  persistent: somePaths,
  recursive: somePaths,
});
const whoAmI = fc.constant({ op: 'whoAmI' as const });

function operation(limits: PlanLimits): fc.Arbitrary<Operation> {
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
    { weight: 4, arbitrary: pathRead },
    { weight: 2, arbitrary: ephemerals },
    { weight: limits.pages ? 2 : 0, arbitrary: page },
    { weight: 2, arbitrary: multiRead },
    { weight: 4, arbitrary: addWatch },
    { weight: 3, arbitrary: watches },
    { weight: 3, arbitrary: setWatches },
    { weight: 1, arbitrary: whoAmI },
  );
}

export function planArbitrary(limits: PlanLimits): fc.Arbitrary<Plan> {
  const session = fc.nat(limits.sessions - 1);
  const burst = fc.record({
    step: fc.constant('burst' as const),
    session,
    member: fc.nat(limits.members - 1),
    moves: fc.oneof(
      { weight: 4, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    auth: fc.oneof(
      { weight: 12, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom<UserName[]>('alice', 'bob') },
    ),
    operations: fc.array(operation(limits), {
      minLength: 1,
      maxLength: limits.operations,
      size: 'max',
    }),
  });
  const leave = fc.record({
    step: fc.constantFrom('vanish' as const, 'vanish' as const, 'close' as const),
    session,
  });
  const step = fc.oneof({ weight: 9, arbitrary: burst }, { weight: 1, arbitrary: leave });
  return fc.array(step, { minLength: 1, maxLength: limits.steps, size: 'max' });
}

/** One line a step, operations indented. */
export function describePlan(plan: Plan): string {
  return plan.map(describeStep).join('\n');
}

function describeStep(step: Step): string {
  const who = `session ${step.session}`;
  if (step.step !== 'burst') return step.step === 'close' ? `${who} is closed` : `${who} vanishes`;
  const where = step.moves ? `moves to member ${step.member}` : `(member ${step.member})`;
  const auth = step.auth === null ? [] : [`  auth(${step.auth})`];
  const lines = step.operations.map((each) => `  ${describeOperation(each)}`);
  return [`${who} ${where}`, ...auth, ...lines].join('\n');
}
