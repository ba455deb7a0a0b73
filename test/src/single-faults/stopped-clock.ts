/**
 * The machine of a member is suspended, and its monotonic clock stands still meanwhile.
 *
 * A client of that member holds a lock. While the member is away the others end the client's
 * session, the lock gets another owner and a value changes. Once the member goes on it answers no
 * request of that client: its session has ended, and whatever it heard would be of the past.
 * In half of the suspensions the member is cut off until a moment after it goes on, so that nothing
 * from the others tells it what has happened.
 */
import { CreateFlag, ErrorCode } from '@rookery/protocol';
import type { Ensemble } from '../harness/ensemble.js';
import type { Member } from '../harness/member.js';
import { create, ensure, exists, sendGetData, setData, sync } from '../harness/operations.js';
import { canStopClocks, onStoppableClocks, suspend } from '../harness/stopped-clock.js';
import { until } from '../harness/wait.js';
import { type Reply, WireClient } from '../harness/wire-client.js';
import { nowMs } from './pulse.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

const PARENT = '/suspended';
const SESSION_TIMEOUT_MS = 1_000;
const DEADLINE_MS = 30_000;
/** How long the client goes on asking once the member is back, and how long a cut outlasts that. */
const ASKING_MS = 600;
const CUT_MS = 300;
const ASK_EVERY_MS = 5;
/** The least times of suspensions; each lasts at least until the lock has another owner. */
const LEAST_MS = [0, 5_000, 7_000];

const PLACES = [
  { place: 'the leader', count: 100, shortCount: 4 },
  { place: 'a follower', count: 20, shortCount: 2 },
] as const;
type Place = (typeof PLACES)[number]['place'];

/** What the members of such an ensemble need. */
export const SUSPENDABLE = {
  proxied: true,
  settings: { minSessionTimeoutMs: SESSION_TIMEOUT_MS / 2, peerTimeoutMs: 1_000 },
} as const;

export const stoppedClock: Scenario = {
  name: 'stopped-clock',
  promise:
    'a machine is suspended and its monotonic clock stands still: its member answers nobody ' +
    'whose session has ended meanwhile',
  async play({ report, isShort }: PlayOptions) {
    if (!canStopClocks()) throw new Error('it needs Linux and a C compiler');
    const stage = await Stage.set({ ...SUSPENDABLE, product: onStoppableClocks() });
    try {
      for (const { place, count, shortCount } of PLACES) {
        const times = isShort ? shortCount : count;
        const bounds = { electionsMax: 2 * times };
        const fault = `${place} is suspended, ${times} times`;
        report(
          await stage.play(fault, bounds, (notes) => suspendOften(stage, place, times, notes)),
        );
      }
    } finally {
      await stage.strike();
    }
  },
};

async function suspendOften(stage: Stage, place: Place, times: number, notes: PlayNotes) {
  let [stale, noticed, suspendedMs] = [0, 0, 0];
  for (let index = 0; index < times; index++) {
    const leastMs = LEAST_MS[index % LEAST_MS.length] ?? 0;
    const seen = await suspendOnce(stage.ensemble, place, { leastMs, isCut: index % 2 === 1 });
    stale += seen.answers.length;
    suspendedMs += seen.suspendedMs;
    if (seen.wasNoticed) noticed += 1;
  }
  await notes.observe();
  const seconds = (suspendedMs / 1_000 / times).toFixed(1);
  notes.said(`${stale} answers in ended sessions, ${times} suspensions of ${seconds} s on average`);
  if (stale > 0) notes.broken(`${stale} answers in sessions that had ended`);
  // A member reports one in ten seconds, by its own clock.
  if (noticed === 0) notes.broken('no suspension was noticed');
}

export interface Suspension {
  /** What the member answered to a client whose session had ended. */
  readonly answers: readonly Reply[];
  /** The member has logged that its clocks have moved apart. */
  readonly wasNoticed: boolean;
  readonly suspendedMs: number;
}

/** Resolves once all members serve again. */
export async function suspendOnce(
  ensemble: Ensemble,
  place: Place,
  { leastMs, isCut }: { readonly leastMs: number; readonly isCut: boolean },
): Promise<Suspension> {
  const leader = await ensemble.leader();
  const struck = place === 'the leader' ? leader : (await ensemble.followers())[0];
  if (struck === undefined) throw new Error('there is a follower');
  const mark = struck.logMark();
  const owner = await connected(struck);
  const [lock, value] = [`${PARENT}/lock`, `${PARENT}/value`];
  await ensure(owner, PARENT);
  await ensure(owner, value);
  await setData(owner, value, 'old');
  await create(owner, lock, 'the first', CreateFlag.ephemeral);
  if (isCut) ensemble.network.isolate(struck.id);
  const goOn = await suspend(ensemble, struck);
  const fromMs = nowMs();
  const asked: Promise<Reply | undefined>[] = [];
  const ask = () => {
    for (const path of [lock, value]) {
      asked.push(sendGetData(owner, path).catch(() => undefined));
    }
  };
  ask();
  const next = await nextOwner(ensemble, struck, lock);
  await setData(next, value, 'new');
  await until('the suspension ends', DEADLINE_MS, () => {
    return nowMs() - fromMs >= leastMs ? true : undefined;
  });
  ask();
  goOn();
  const suspendedMs = nowMs() - fromMs;
  await askOn(owner, ask, isCut ? () => ensemble.network.heal(struck.id) : undefined);
  await owner.drop();
  const replies = (await Promise.all(asked)).filter((reply) => reply !== undefined);
  await next.close();
  await ensemble.serving();
  return {
    answers: replies.filter(({ error }) => error === ErrorCode.ok),
    wasNoticed: struck.linesSince(mark).some((line) => line.includes('"clock.jumped"')),
    suspendedMs,
  };
}

/** The client that holds the lock once the session of its first owner has ended. */
async function nextOwner(ensemble: Ensemble, struck: Member, lock: string): Promise<WireClient> {
  const others = ensemble.members.filter((member) => member !== struck);
  const client = await until('another member leads', DEADLINE_MS, async () => {
    for (const member of others) {
      if ((await member.status())?.mode === 'leader') return await connected(member);
    }
    return undefined;
  });
  await until('the lock is free', DEADLINE_MS, async () => {
    await sync(client);
    return (await exists(client, lock)) === undefined ? true : undefined;
  });
  await create(client, lock, 'the second', CreateFlag.ephemeral);
  return client;
}

/** The client asks on and on; the cut, if there is one, heals meanwhile. */
async function askOn(owner: WireClient, ask: () => void, heal?: () => void): Promise<void> {
  const fromMs = nowMs();
  let isHealed = heal === undefined;
  while (nowMs() - fromMs < ASKING_MS) {
    if (owner.open) ask();
    if (!isHealed && nowMs() - fromMs >= CUT_MS) {
      isHealed = true;
      heal?.();
    }
    await new Promise((resolve) => {
      setTimeout(resolve, ASK_EVERY_MS);
    });
  }
}

function connected(member: Member): Promise<WireClient> {
  return WireClient.connect({ port: member.clientPort, timeoutMs: SESSION_TIMEOUT_MS });
}
