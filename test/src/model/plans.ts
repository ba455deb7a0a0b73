/**
 * Random sequences: which sessions do what, in bursts, where they connect, and when they vanish.
 *
 * A plan is plain data, so that fast-check can shrink it and a person can read it. Each burst is
 * sent in one write; generators.ts says what is in them.
 */
import fc from 'fast-check';
import { operations, PATHS } from './generators.js';
import { describeOperation, type Operation, type UserName } from './operations.js';

export interface Burst {
  readonly step: 'burst';
  readonly session: number;
  /** The member to connect to if there is no connection; counted from 0. */
  readonly member: number;
  /** Drops the present connection first and resumes at `member`. */
  readonly moves: boolean;
  /** Sets the watches again that it had before it moved, as a client does. */
  readonly restores: boolean;
  /** A new connection would accept a read-only member; members with a quorum ignore that. */
  readonly readOnly: boolean;
  /** Sent before everything else. */
  readonly auth: UserName | null;
  readonly operations: readonly Operation[];
}
/** Sets limits on what is below a path, removes them, or deletes the statistics. */
export interface QuotaStep {
  readonly step: 'quota';
  readonly session: number;
  readonly path: string;
  readonly change: 'limit' | 'lift' | 'forget';
  readonly limits: string;
}
export interface Leave {
  readonly step: 'vanish' | 'close';
  readonly session: number;
}
export type Step = Burst | QuotaStep | Leave;
export type Plan = readonly Step[];

export interface PlanLimits {
  readonly sessions: number;
  readonly members: number;
  readonly steps: number;
  readonly operations: number;
  readonly pages: boolean;
}

/** As the shells of 3.8 write them; the last two are where a value just fits and just does not. */
const LIMITS = [
  'count=2,bytes=10',
  'count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=3',
  'count=-1,bytes=-1=;byteHardLimit=12;countHardLimit=-1',
  'count=1,bytes=1=;byteHardLimit=20;countHardLimit=5',
  'count=-1,bytes=-1=;byteHardLimit=0;countHardLimit=-1',
  'count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=0',
];
/** Something to begin with, because most of a short plan would otherwise find nothing. */
const FILLED: Burst = {
  step: 'burst',
  session: 0,
  member: 0,
  moves: false,
  restores: false,
  readOnly: false,
  auth: null,
  operations: ['/a', '/b', '/a/a', '/a/b'].map((path) => {
    return { op: 'create', path, data: 'there', acl: 'open', flags: 0, ttlMs: 0 };
  }),
};
/** The share of plans with quotas: those send one write at a time. */
const QUOTA_PLANS = { weight: 1, of: 6 };

export function planArbitrary(limits: PlanLimits): fc.Arbitrary<Plan> {
  const session = fc.nat(limits.sessions - 1);
  const burst = burstArbitrary(limits, session);
  const leave = fc.record({
    step: fc.constantFrom('vanish' as const, 'vanish' as const, 'close' as const),
    session,
  });
  const quota = fc.record({
    step: fc.constant('quota' as const),
    session,
    path: fc.constantFrom(...PATHS),
    change: fc.constantFrom('limit' as const, 'limit', 'limit', 'lift', 'forget'),
    limits: fc.constantFrom(...LIMITS),
  });
  const plan = (quotaWeight: number): fc.Arbitrary<Plan> => {
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 9, arbitrary: burst },
      { weight: 1, arbitrary: leave },
      { weight: quotaWeight, arbitrary: quota },
    );
    const steps = fc.array(step, { minLength: 1, maxLength: limits.steps, size: 'max' });
    return fc.boolean().chain((full) => steps.map((some) => (full ? [FILLED, ...some] : some)));
  };
  return fc.oneof(
    { weight: QUOTA_PLANS.of - QUOTA_PLANS.weight, arbitrary: plan(0) },
    { weight: QUOTA_PLANS.weight, arbitrary: plan(3) },
  );
}

function burstArbitrary(limits: PlanLimits, session: fc.Arbitrary<number>): fc.Arbitrary<Burst> {
  const one = (outOf: number) =>
    fc.oneof(
      { weight: outOf - 1, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    );
  return fc.record({
    step: fc.constant('burst' as const),
    session,
    member: fc.nat(limits.members - 1),
    moves: one(5),
    restores: fc.boolean(),
    readOnly: one(4),
    auth: fc.oneof(
      { weight: 12, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom<UserName[]>('alice', 'bob', 'super') },
    ),
    operations: operations({ max: limits.operations, pages: limits.pages }),
  });
}

/** The operations of a step on quotas: reads of the statistics, and writes around the limits. */
export function quotaOperations({ path, change, limits }: QuotaStep): readonly Operation[] {
  const at = `?${path}`;
  const look: Operation = { op: 'getData', path: `${at}/zookeeper_stats`, watch: false };
  if (change !== 'limit') {
    const name = change === 'lift' ? 'zookeeper_limits' : 'zookeeper_stats';
    return [look, { op: 'delete', path: `${at}/${name}`, version: -1 }];
  }
  const above = path.split('/').map((_, depth, names) => `?${names.slice(0, depth + 1).join('/')}`);
  const make = (node: string, data: string): Operation => {
    return { op: 'create', path: node, data, acl: 'open', flags: 0, ttlMs: 0 };
  };
  return [
    look,
    ...above.map((node) => make(node, '')),
    make(`${at}/zookeeper_limits`, limits),
    { op: 'setData', path: `${at}/zookeeper_limits`, data: limits, version: -1 },
    make(`${at}/zookeeper_stats`, ''),
    ...['', '/a', '/b'].map((name) => make(`${path}${name}`, 'x')),
    { op: 'setData', path, data: 'some data', version: -1 },
    { op: 'setData', path: `${path}/a`, data: 'some', version: 7 },
    { op: 'setData', path, data: null, version: -1 },
    look,
  ];
}

/** One line per step, with the operations indented. */
export function describePlan(plan: Plan): string {
  return plan.map(describeStep).join('\n');
}

function describeStep(step: Step): string {
  const who = `session ${step.session}`;
  switch (step.step) {
    case 'close':
      return `${who} is closed`;
    case 'vanish':
      return `${who} vanishes`;
    case 'quota':
      return `${who} quota ${step.change} ${step.path || '.'} ${step.limits}`;
    case 'burst': {
      const again = step.restores ? ', with its watches' : '';
      const where = step.moves
        ? `moves to member ${step.member}${again}`
        : `(member ${step.member})`;
      const auth = step.auth === null ? [] : [`  auth(${step.auth})`];
      const lines = step.operations.map((each) => `  ${describeOperation(each)}`);
      return [`${who} ${where}`, ...auth, ...lines].join('\n');
    }
  }
}
