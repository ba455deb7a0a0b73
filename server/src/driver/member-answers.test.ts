/** What a member answers to questions of other members, which come from a wire. */
import { expect, it } from 'vitest';
import { EventRing } from '../measures/event-ring.js';
import type { WordContext } from '../net/four-letter/context.js';
import type { HotReport } from '../pipeline/hot-requests.js';
import type { WatchMode, WatchTable } from '../state/watches.js';
import { type AnsweringMember, type EndOutcome, memberAnswers } from './member-answers.js';
import { ANSWER_BYTES_MAX } from './peer-questions.js';

const HERE = 0x1_0000_0001;
const BUSY = 0x1_0000_0002;

/** A report that names two sessions, of which one has left. */
const HOT: HotReport = {
  spanMs: 2_000,
  every: 4,
  reads: { total: 100, keys: [{ key: '/config', count: 60 }] },
  writes: { total: 1, keys: [] },
  sessions: {
    total: 101,
    keys: [
      { key: HERE, count: 90 },
      { key: 0x1_0000_0009, count: 3 },
    ],
  },
};

function useAnswers() {
  const ended: number[] = [];
  const endings = new Map<number, EndOutcome>();
  const watched = new Map([
    [HERE, ['/locks/a/one', '/locks/b/two', '/locks/a', '/']],
    [BUSY, Array.from({ length: 1001 }, (_, i) => `/other/${i}`)],
  ]);
  const watches = { looked: 0 };
  function* pathsOf(watcher: number) {
    for (const path of watched.get(watcher) ?? []) {
      watches.looked += 1;
      yield path;
    }
  }
  const connection = (sessionId: number) => ({
    remoteAddress: '10.0.0.7',
    remotePort: 5,
    stats: { sessionId },
  });
  const context = { connections: () => [0, HERE, BUSY].map(connection) };
  const member: AnsweringMember = {
    context: () => context as unknown as WordContext,
    watches: {
      pathsOf: (mode: WatchMode, watcher: number) => (mode === 'data' ? pathsOf(watcher) : []),
    } as unknown as WatchTable,
    watcherOf: (session) => (watched.has(session) ? session : undefined),
    identitiesOf: () => [],
    hotRequests: () => HOT,
    expireSession: (session) => {
      ended.push(session);
      return session === HERE ? 'ended' : (endings.get(session) ?? 'notLeading');
    },
  };
  const answer = memberAnswers(member, null);
  /** All steps of an answer, and how many watches were looked at in each. */
  const stepsOf = (question: unknown) => {
    const made = answer(JSON.stringify(question));
    if (made === null || typeof made === 'string') return { text: made, looked: [] };
    if (!('next' in made)) return { text: made.now(), looked: [] };
    const looked: number[] = [];
    for (;;) {
      const before = watches.looked;
      const { done, value } = made.next();
      looked.push(watches.looked - before);
      if (done === true) return { text: value, looked };
    }
  };
  const ask = (question: unknown) => JSON.parse(stepsOf(question).text ?? 'null');
  return { ended, endings, ask, stepsOf };
}

it('tells which sessions are connected, and what they watch in a directory', () => {
  const { ask } = useAnswers();
  const sessions = ['0x100000001', '0x100000002', '0x100000003', '0x0'];
  const client = { host: '10.0.0.7', port: 5 };
  expect(ask({ kind: 'clients', sessions: sessions.slice(0, 1) })).toEqual({
    clients: [{ session: '0x100000001', ...client }],
  });
  const told = ask({ kind: 'clients', sessions, directory: '/locks/a' });
  expect(told.clients).toContainEqual({ session: '0x100000001', ...client, watches: ['one'] });
  // It has more watches than are looked at.
  expect(told.clients).toContainEqual({ session: '0x100000002', ...client, watches: null });
  expect(ask({ kind: 'clients', sessions, directory: '/locks' }).clients).toContainEqual({
    session: '0x100000001',
    ...client,
    watches: ['a'],
  });
});

it('looks at few watches in a step, however many a session has', () => {
  const { stepsOf } = useAnswers();
  const question = { kind: 'clients', sessions: ['0x100000002'], directory: '/locks' };
  const { looked } = stepsOf(question);
  expect(looked.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(1_000);
  expect(Math.max(...looked)).toBeLessThanOrEqual(128);
});

it('ends a session where it leads, and nothing for a question that is none', () => {
  const { ask, ended, endings } = useAnswers();
  const end = (session: unknown) => ask({ kind: 'end', session });
  const notLeading = { ended: false, alreadyEnding: false };
  expect(end('0x100000001')).toEqual({ ended: true, alreadyEnding: false });
  expect(end('0x100000002')).toEqual(notLeading);
  expect(ended).toEqual([HERE, BUSY]);
  for (const session of [HERE, null, '', '0x', '-0x1', '100000001', '0xffffffffffffffff', {}]) {
    expect(end(session), String(session)).toEqual(notLeading);
  }
  expect(ended).toHaveLength(2);
  endings.set(BUSY, 'alreadyEnding');
  expect(end('0x100000002')).toEqual({ ended: true, alreadyEnding: true });
});

it('answers nothing to what it does not understand', () => {
  const { ask } = useAnswers();
  for (const question of [null, 1, [], {}, { kind: 'expire' }, { kind: 'events' }]) {
    expect(ask(question)).toBeNull();
  }
  expect(ask({ kind: 'clients', sessions: 'x', directory: 1 })).toEqual({ clients: [] });
});

it('tells what is asked for most as rates, and where the sessions that ask are connected', () => {
  const { ask } = useAnswers();
  expect(ask({ kind: 'hot' })).toEqual({
    spanMs: 2_000,
    every: 4,
    readsPerSecond: 50,
    writesPerSecond: 0.5,
    requestsPerSecond: 50.5,
    reads: [{ path: '/config', perSecond: 30 }],
    writes: [],
    clients: [
      { session: '0x100000001', host: '10.0.0.7', port: 5, perSecond: 45 },
      { session: '0x100000009', host: null, port: 0, perSecond: 1.5 },
    ],
  });
});

it('tells as many events as fit, whatever their letters are, and the rest when asked on', () => {
  const ring = new EventRing(() => 0);
  for (let count = 0; count < 150; count++) ring.add('info', 'e', { text: '\u4e2d'.repeat(1_900) });
  const answer = memberAnswers(Object.create(null) as AnsweringMember, ring);
  const ask = (after: number): readonly number[] => {
    const text = answer(JSON.stringify({ kind: 'events', after }));
    if (typeof text !== 'string') throw new Error('it is answered at once');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
    const { newest, events } = JSON.parse(text);
    expect(newest).toBe(150);
    return events.map(({ number }: { readonly number: number }) => number);
  };
  // A reader that begins gets the newest.
  const first = ask(0);
  expect(first.length).toBeGreaterThan(40);
  expect(first.at(-1)).toBe(150);
  const heard: number[] = [];
  for (let next = ask(1); next.length > 0; next = ask(heard.at(-1) ?? 0)) heard.push(...next);
  expect(heard).toEqual(Array.from({ length: 149 }, (_, index) => index + 2));
});

it('keeps of an event so little that each one fits', () => {
  const ring = new EventRing(() => 0);
  const worst = ['\ud800', '\u4e2d', '"', '\n'].map((letter) => letter.repeat(100_000));
  for (const text of worst) ring.add('warn', text, { text });
  for (const text of worst) ring.add('warn', text, { [text.slice(0, 1_000)]: text.slice(0, 990) });
  for (const event of ring.after(0)) {
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(10_000);
  }
});

it('tells where clients are although the names that they watch are too long for an answer', () => {
  const sessions = Array.from({ length: 150 }, (_, index) => HERE + index);
  const names = Array.from({ length: 20 }, (_, index) => `/d/${'\u4e2d'.repeat(200)}${index}`);
  const connections = sessions.map((sessionId) => ({
    remoteAddress: '10.0.0.7',
    remotePort: 5,
    stats: { sessionId },
  }));
  const member = {
    context: () => ({ connections: () => connections }),
    watches: { pathsOf: (mode: string) => (mode === 'data' ? names : []) },
    watcherOf: (session: number) => session,
  } as unknown as AnsweringMember;
  const hex = sessions.map((session) => `0x${session.toString(16)}`);
  const question = JSON.stringify({ kind: 'clients', sessions: hex, directory: '/d' });
  const steps = memberAnswers(member, null)(question);
  if (steps === null || typeof steps === 'string' || !('next' in steps)) throw new Error('steps');
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const text = step.value ?? '';
  expect(Buffer.byteLength(text)).toBeLessThan(ANSWER_BYTES_MAX);
  const { clients } = JSON.parse(text);
  expect(clients.length).toBe(150);
  expect(clients[0].watches.length).toBe(20);
  expect(clients.at(-1).watches).toBeNull();
});
