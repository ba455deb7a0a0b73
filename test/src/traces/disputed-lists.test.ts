/**
 * Goal: while the list of members is being changed, nobody loses a history that a majority of one
 * of the lists has, and what the operator's guide says always ends the dispute. Method: every way
 * in which the members can have two histories, for lists that grow, shrink and move; the core
 * alone. It cannot know which of the two is right: the same disks can come from either.
 */
import { describe, expect, it } from 'vitest';
import { runFor } from './commands/time.js';
import { logIn } from './commands/words.js';
import type { Ensemble } from './ensemble.js';
import { Session } from './session.js';
import { EMPTY_TREE } from './tree.js';

type Ids = readonly number[];
/** The history of each member; `none` has an empty directory and no vote. */
type Has = readonly ('left' | 'right' | 'none')[];

/** Who led epoch 2. */
const LED = { left: 21, right: 31, none: 0 };
const ENOUGH_MS = 3000;

const CHANGES: readonly { readonly former: Ids; readonly now: Ids }[] = [
  { former: [1, 2, 3], now: [1, 2, 3, 4] },
  { former: [1, 2], now: [1, 2, 3] },
  { former: [1, 2, 3, 4, 5], now: [1, 2, 3] },
  { former: [1, 2, 4], now: [1, 2, 3] },
];

/** Every way in which the members of the lists have both histories, and members without any. */
function* everyWay(ids: Ids): Generator<Has> {
  for (let way = 0; way < 3 ** ids.length; way += 1) {
    const has = ids.map((_, index) => {
      const digit = Math.floor(way / 3 ** index) % 3;
      return digit === 0 ? 'left' : digit === 1 ? 'right' : 'none';
    });
    if (has.includes('left') && has.includes('right')) yield has;
  }
}

/** What becomes of members 1 to `size`, all started with a list of exactly these. */
function outcome(size: number, formerMembers: readonly Ids[], has: Has): Ensemble {
  const session = new Session();
  const ensemble = session.create({ size, formerMembers });
  ensemble.checker.onGiven(EMPTY_TREE);
  for (const { id, disk } of ensemble.members.values()) {
    const history = has[id - 1] ?? 'none';
    if (history === 'none') continue;
    const lineage = [
      { epoch: 1, identity: 11 },
      { epoch: 2, identity: LED[history] },
    ];
    const epochs = { accepted: 2, current: 2, ensembleId: 'X', founded: true };
    Object.assign(disk, { ...epochs, lineage, log: [...logIn('e1:1..2,e2:1..3', 0)] });
  }
  session.capture(() => {
    for (const id of ensemble.members.keys()) ensemble.start(id);
    runFor(session, ENOUGH_MS);
  });
  return ensemble;
}

function isServed(ensemble: Ensemble): boolean {
  return [...ensemble.members.values()].some(({ serves }) => serves === 'leading');
}

/** Who led epoch 2 for what this member has; undefined if its history is given up. */
function ledAt(ensemble: Ensemble, id: number): number | undefined {
  const { disk } = ensemble.member(id);
  return disk.damaged ? undefined : disk.lineage.find(({ epoch }) => epoch === 2)?.identity;
}

function hasMajority(list: Ids, has: Has, history: 'left' | 'right'): boolean {
  return 2 * list.filter((id) => has[id - 1] === history).length > list.length;
}

describe.each(CHANGES)('two histories while the list $former becomes $now', ({ former, now }) => {
  const ids = [...new Set([...former, ...now])].sort();
  const present = (has: Has): Has => has.map((one, at) => (now.includes(at + 1) ? one : 'none'));
  const other = { left: 'right', right: 'left' } as const;

  it('take none from the majority of a list, and end where a majority of each agrees', () => {
    const wrong: string[] = [];
    for (const has of everyWay(ids)) {
      const ensemble = outcome(now.length, [former], has);
      const isCertain = (['left', 'right'] as const).some((history) =>
        [former, now].every((list) => hasMajority(list, present(has), history)),
      );
      for (const id of now) {
        const own = has[id - 1] ?? 'none';
        if (own === 'none' || ledAt(ensemble, id) === LED[own]) continue;
        const isMajority = [former, now].some((list) => hasMajority(list, has, own));
        const mayGo = isServed(ensemble) && !isMajority;
        if (!mayGo) wrong.push(`${has}: member ${id} lost its history`);
      }
      if (isCertain && !isServed(ensemble)) wrong.push(`${has}: nobody leads`);
    }
    expect(wrong).toEqual([]);
  });

  it('end with the chosen one once everybody starts, those without it empty', () => {
    const wrong: string[] = [];
    for (const has of everyWay(ids)) {
      for (const history of ['left', 'right'] as const) {
        if (![former, now].some((list) => hasMajority(list, has, history))) continue;
        const kept = has.map((one) => (one === other[history] ? 'none' : one));
        const lists = [former, now].filter(({ length }) => length < ids.length);
        const ensemble = outcome(ids.length, lists, kept);
        const differ = ids.filter((id) => ledAt(ensemble, id) !== LED[history]);
        if (!isServed(ensemble) || differ.length > 0) wrong.push(`${has}: ${history}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
