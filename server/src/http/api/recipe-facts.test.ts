/** Who holds and who waits, by the names of znodes alone, and whom a waiter waits for. */
import { expect, it } from 'vitest';
import {
  awaitedAmong,
  awaitedBy,
  type Contender,
  queuedRecipe,
  type Surroundings,
} from './recipe-facts.js';
import { partOf } from './recipe-names.js';

const ABOUT = () => ({ data: null, isAwaited: false });
const HEX = 'ab'.repeat(16);

function contenders(names: readonly string[], isEphemeral = true): readonly Contender[] {
  return names.flatMap((name, createdMs) => {
    const part = partOf(name);
    return part === null ? [] : [{ ...part, name, isEphemeral, createdMs }];
  });
}

function namesOf(list: readonly Contender[] = []): readonly string[] {
  return list.map(({ name }) => name);
}

it('orders a lock by the numbers of its znodes, and shows a hundred waiters of all', () => {
  const names = Array.from({ length: 150 }, (_, i) => `lock-${String(149 - i).padStart(10, '0')}`);
  const lock = queuedRecipe(contenders(names), ABOUT);
  expect(lock).toMatchObject({ kind: 'lock', count: 150, ready: null, permits: null });
  expect(namesOf(lock?.holders)).toEqual(['lock-0000000000']);
  expect(namesOf(lock?.waiters)).toHaveLength(100);
  expect(namesOf(lock?.waiters)[0]).toBe('lock-0000000001');
});

it('tells a semaphore, a barrier and a group apart by what is around them', () => {
  const members = contenders([HEX]);
  const kindOf = (more: Partial<Surroundings>) =>
    queuedRecipe(members, () => ({ ...ABOUT(), ...more }))?.kind;
  expect(kindOf({})).toBe('group');
  expect(kindOf({ isAwaited: true })).toBe('barrier');
  expect(kindOf({ data: Buffer.from('3') })).toBe('semaphore');
  const full = queuedRecipe(contenders([HEX, 'ready']), ABOUT);
  expect(full).toMatchObject({ kind: 'barrier', ready: true, count: 1, waiters: [] });
  // What outlives its session is no member of anything.
  expect(queuedRecipe(contenders([HEX], false), ABOUT)).toBeNull();
  expect(queuedRecipe([], ABOUT)).toBeNull();
});

it('finds whom a waiter waits for, also behind holders that are not shown', () => {
  const names = Array.from(
    { length: 201 },
    (_, i) => `${HEX}__rlock__${String(i).padStart(10, '0')}`,
  );
  const writer = '_c_00000000-0000-0000-0000-000000000000-__WRIT__0000000300';
  const lock = queuedRecipe(contenders([...names, writer]), ABOUT);
  const [waiter] = lock?.waiters ?? [];
  if (lock === null || waiter === undefined) throw new Error('the writer waits');
  const last = names.at(-1) ?? '';
  expect(waiter.name).toBe(writer);
  expect(awaitedBy(lock, waiter, (name) => name === last)).toBe(last);
  expect(awaitedBy(lock, waiter, () => false)).toBeNull();
  const { kind } = lock;
  const watched = [names[7] ?? '', last, 'other', `${HEX}__rlock__0000000400`];
  expect(awaitedAmong(watched, { kind, name: writer })).toBe(last);
  expect(awaitedAmong(['other'], { kind, name: writer })).toBeNull();
});

it('knows that all who wait at a barrier wait for its end', () => {
  const barrier = queuedRecipe(contenders([HEX]), () => ({ data: null, isAwaited: true }));
  const [waiter] = barrier?.waiters ?? [];
  if (barrier === null || waiter === undefined) throw new Error('one waits');
  expect(awaitedBy(barrier, waiter, (name) => name === 'ready')).toBe('ready');
  expect(awaitedBy(barrier, waiter, () => false)).toBeNull();
  expect(awaitedAmong(['ready'], { kind: 'barrier', name: HEX })).toBe('ready');
});
