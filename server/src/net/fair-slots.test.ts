import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FairSlot, FairSlots } from './fair-slots.js';

const of = (group: string): FairSlot => ({ group });

it('lets an address that holds every place lose its oldest one to whoever comes', () => {
  const slots = new FairSlots(3);
  const silent = [of('a'), of('a'), of('a')];
  for (const slot of silent) expect(slots.add(slot)).toBeNull();
  const [first, second] = silent;
  const good = of('b');
  expect(slots.add(good)).toBe(first);
  expect(slots.add(of('a'))).toBe(second);
  expect(slots.size).toBe(3);
  slots.delete(good);
  expect(slots.add(of('c'))).toBeNull();
});

it('never takes a place from an address that has fewer than another', () => {
  type Step = { readonly group: string; readonly leaves: boolean };
  const step = fc.record({ group: fc.constantFrom('a', 'b', 'c', 'd'), leaves: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step), (most, steps: Step[]) => {
      const slots = new FairSlots(most);
      let held: FairSlot[] = [];
      const countOf = (group: string) => held.filter((one) => one.group === group).length;
      for (const { group, leaves } of steps) {
        if (leaves) {
          const leaving = held.find((one) => one.group === group);
          if (leaving !== undefined) slots.delete(leaving);
          held = held.filter((one) => one !== leaving);
          continue;
        }
        const slot = of(group);
        held.push(slot);
        const loser = slots.add(slot);
        expect(loser === null).toBe(held.length <= most);
        if (loser !== null) {
          const counts = ['a', 'b', 'c', 'd'].map(countOf);
          expect(countOf(loser.group)).toBe(Math.max(...counts));
          expect(held.find((one) => one.group === loser.group)).toBe(loser);
          held = held.filter((one) => one !== loser);
        }
        expect(slots.size).toBe(held.length);
      }
    }),
  );
});
