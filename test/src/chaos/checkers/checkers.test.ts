/**
 * Each check accepts what the service may do and refuses each way to break its promise. The
 * histories are short and written by hand, and each one that is refused is beside a similar one
 * that is legal.
 */
import { describe, expect, it } from 'vitest';
import { checkCasRegister } from './cas-register.js';
import { checkCounter } from './counter.js';
import { checkEphemerals } from './ephemerals.js';
import { checkPlainReads } from './plain-reads.js';
import { checkLinearQueue, checkTotalQueue } from './queues.js';
import { checkSet } from './set.js';
import { Told } from './told.js';
import { checkUniqueIds } from './unique-ids.js';

type Check = typeof checkSet;

/** Expects the check to refuse the history with a problem that contains the word. */
function expectRefused(check: Check, told: Told, word: string): void {
  const { valid, problems } = check(told.entries);
  expect(problems.join('\n')).toContain(word);
  expect(valid).toBe(false);
}

function expectAccepted(check: Check, told: Told): void {
  expect(check(told.entries)).toMatchObject({ problems: [], valid: true });
}

it('nothing can be said of a history without a success', () => {
  const told = new Told().info(0, 'generate', null);
  expect(checkUniqueIds(told.entries)).toMatchObject({ valid: 'unknown' });
});

describe('compare-and-set registers', () => {
  const base = () => new Told().ok(0, 'write', [0, 1]).ok(1, 'read', [0, null], [0, 1]);

  it('hold what was written last, each its own', () => {
    expectAccepted(checkCasRegister, base().ok(0, 'read', [1, null], [1, 0]));
    expectAccepted(
      checkCasRegister,
      base()
        .ok(1, 'cas', [0, [1, 2]])
        .ok(0, 'read', [0, null], [0, 2]),
    );
    expectRefused(checkCasRegister, base().ok(0, 'read', [0, null], [0, 0]), 'read 0');
    expectRefused(checkCasRegister, base().ok(1, 'cas', [0, [7, 2]]), 'cas 7');
  });

  it('do not lose or double what was acknowledged', () => {
    const lost = base().ok(0, 'write', [0, 2]).ok(1, 'read', [0, null], [0, 1]);
    expectRefused(checkCasRegister, lost, 'read 1');
    const doubled = base()
      .ok(0, 'cas', [0, [1, 2]])
      .ok(1, 'cas', [0, [2, 3]]);
    expectRefused(checkCasRegister, doubled.ok(1, 'read', [0, null], [0, 2]), 'read 2');
  });

  it('may show what is in doubt late, once, or never, but not what was refused', () => {
    const late = () => base().info(0, 'write', [0, 2]).ok(1, 'read', [0, null], [0, 1]);
    expectAccepted(checkCasRegister, late().ok(1, 'read', [0, null], [0, 2]));
    const back = late().ok(1, 'read', [0, null], [0, 2]).ok(1, 'read', [0, null], [0, 1]);
    expectRefused(checkCasRegister, back, 'read 1');
    const refused = base().fail(0, 'write', [0, 2]).ok(1, 'read', [0, null], [0, 2]);
    expectRefused(checkCasRegister, refused, 'read 2');
  });
});

describe('sets', () => {
  const base = () => new Told().ok(0, 'add', [0, 1]).info(0, 'add', [0, 2]).ok(0, 'add', [0, 3]);

  it('show all that was acknowledged, and perhaps what is in doubt', () => {
    expectAccepted(checkSet, base().ok(1, 'read', [0, null], [0, [1, 3]]));
    expectAccepted(checkSet, base().ok(1, 'read', [0, null], [0, [1, 2, 3]]));
    expectRefused(checkSet, base().ok(1, 'read', [0, null], [0, [1, 2]]), '3 is lost');
  });

  it('show nothing that nobody added, that was refused, or that is gone again', () => {
    expectRefused(checkSet, base().ok(1, 'read', [0, null], [0, [1, 3, 9]]), 'shows 9');
    const refused = base()
      .fail(1, 'add', [0, 4])
      .ok(1, 'read', [0, null], [0, [1, 3, 4]]);
    expectRefused(checkSet, refused, 'shows 4');
    const gone = base()
      .ok(1, 'read', [0, null], [0, [1, 2, 3]])
      .ok(1, 'read', [0, null], [0, [1, 3]]);
    expectRefused(checkSet, gone, 'was called after');
  });

  it('were late to show an element, though the last read has it', () => {
    const stale = new Told().ok(0, 'add', [0, 1]).ok(1, 'read', [0, null], [0, []]);
    expectRefused(checkSet, stale.ok(1, 'read', [0, null], [0, [1]]), 'was called after');
    const during = new Told();
    const add = during.begin(0, 'add', [0, 1]);
    during.ok(1, 'read', [0, null], [0, []]);
    add.ok([0, 1]);
    expectAccepted(checkSet, during.ok(1, 'read', [0, null], [0, [1]]));
  });
});

describe('counters', () => {
  const base = () =>
    new Told().ok(0, 'add', [0, 2], [0, 2, [0, 1]]).ok(1, 'add', [0, 2], [0, 2, [2, 3]]);
  const read = (told: Told, count: number, stat = count) =>
    told.ok(2, 'read', [0, null], [0, count, stat]);

  it('count what was added, and perhaps what is in doubt', () => {
    expectAccepted(checkCounter, read(base(), 4));
    expectAccepted(checkCounter, read(base().info(0, 'add', [0, 2]), 6));
    expectAccepted(checkCounter, read(base().info(0, 'add', [0, 2]), 4));
  });

  it('lose nothing, double nothing, and show no half of a multi', () => {
    expectRefused(checkCounter, read(base(), 2), 'was called after');
    expectRefused(checkCounter, read(base(), 6), 'nobody added');
    expectRefused(checkCounter, read(base().info(0, 'add', [0, 2]), 5), 'a part');
    expectRefused(checkCounter, read(base(), 4, 5), 'in its stat');
    expectRefused(checkCounter, read(base().fail(0, 'add', [0, 2]), 6), 'nobody added');
  });

  it('give each number once, together, and in order', () => {
    const again = base().ok(0, 'add', [0, 2], [0, 2, [2, 3]]);
    expectRefused(checkCounter, again, 'given twice');
    const torn = new Told().ok(0, 'add', [0, 2], [0, 2, [0, 2]]);
    expectRefused(checkCounter, torn, 'got 0 2');
    const back = new Told()
      .ok(0, 'add', [0, 2], [0, 2, [2, 3]])
      .ok(0, 'add', [0, 2], [0, 2, [0, 1]]);
    expectRefused(checkCounter, back, 'was called after');
  });
});

describe('unique ids', () => {
  it('are given once and grow from answer to call', () => {
    const base = () => new Told().ok(0, 'generate', null, 1).ok(1, 'generate', null, 3);
    expectAccepted(checkUniqueIds, base().ok(0, 'generate', null, 4));
    expectRefused(checkUniqueIds, base().ok(0, 'generate', null, 3), 'given twice');
    expectRefused(checkUniqueIds, base().ok(0, 'generate', null, 2), 'was called after');
    const together = new Told();
    const slow = together.begin(0, 'generate', null);
    together.ok(1, 'generate', null, 5);
    slow.ok(4);
    expectAccepted(checkUniqueIds, together);
  });
});

describe('queues', () => {
  const base = () => new Told().ok(0, 'enqueue', 1).ok(0, 'enqueue', 2);
  const take = (told: Told, element: number | null) => told.ok(1, 'dequeue', null, element);

  it('give what was put in, once; one of them in order', () => {
    expectAccepted(checkLinearQueue, take(take(take(base(), 1), 2), null));
    expectAccepted(checkTotalQueue, take(take(take(base(), 2), 1), null));
    expectRefused(checkLinearQueue, take(take(take(base(), 2), 1), null), 'removed before 1');
    expectRefused(checkTotalQueue, take(take(take(base(), 1), 1), null), 'removed twice');
    expectRefused(checkTotalQueue, take(take(take(base(), 1), 7), null), 'never added');
  });

  it('lose nothing: what nobody took was perhaps taken by whom nobody knows, and who tried it', () => {
    expectRefused(checkTotalQueue, take(take(base(), 1), null), '2 is lost');
    expectRefused(
      checkTotalQueue,
      take(take(base().info(2, 'dequeue', null, 1), 1), null),
      '2 is lost',
    );
    expectAccepted(checkTotalQueue, take(take(base().info(2, 'dequeue', null, 2), 1), null));
    expectAccepted(checkLinearQueue, take(take(base(), 1).info(2, 'dequeue', null, 2), null));
    const doubtful = new Told().info(0, 'enqueue', 1).ok(0, 'enqueue', 2);
    expectAccepted(checkLinearQueue, take(take(doubtful, 2), null));
  });

  it('are not found empty while something is in them, nor give what was refused', () => {
    expectRefused(
      checkLinearQueue,
      take(take(take(take(base(), null), 1), 2), null),
      'found empty',
    );
    const refused = new Told().fail(0, 'enqueue', 1);
    expectRefused(checkTotalQueue, take(take(refused, 1), null), 'never added');
  });

  it('that were not drained cannot be judged', () => {
    expect(checkTotalQueue(take(base(), 1).entries)).toMatchObject({ valid: 'unknown' });
  });
});

describe('ephemeral znodes', () => {
  const base = () => new Told().ok(0, 'create', 'a-1', 'a-1', { session: 'a' });
  const read = (told: Told, ...names: string[]) =>
    told.ok(1, 'read', null, names, { session: 'b' });
  const sign = (told: Told) => told.ok(0, 'read', null, ['a-1'], { session: 'a' });
  const end = (told: Told, ...names: string[]) => told.ok(1, 'final', null, names);

  it('stay while their session lives, and go with it', () => {
    expectAccepted(checkEphemerals, end(sign(read(base(), 'a-1'))));
    expectAccepted(checkEphemerals, end(read(sign(base()))));
    const early = new Told().ok(0, 'create', 'a-1', 'a-1', { session: 'a' });
    read(early);
    early.ok(0, 'create', 'a-2', 'a-2', { session: 'a' });
    expectRefused(checkEphemerals, end(early), 'its session alive');
  });

  it('do not outlive their session', () => {
    expectRefused(checkEphemerals, end(base(), 'a-1'), 'is left');
    expect(checkEphemerals(read(base()).entries)).toMatchObject({ valid: 'unknown' });
  });

  it('do not come back, and nobody sees what nobody made', () => {
    expectRefused(checkEphemerals, end(read(read(base()), 'a-1')), 'after it had gone');
    expectRefused(checkEphemerals, end(read(base(), 'a-1', 'c-9')), 'nobody had made');
    const deleted = () => base().ok(0, 'delete', 'a-1', 'a-1', { session: 'a' });
    expectAccepted(checkEphemerals, end(read(deleted())));
    expectRefused(checkEphemerals, end(read(deleted(), 'a-1')), 'deleted at');
    const doubtful = base().info(0, 'delete', 'a-1').ok(0, 'read', null, [], { session: 'a' });
    expectAccepted(checkEphemerals, end(doubtful.ok(0, 'read', null, [], { session: 'a' })));
  });
});

describe('plain reads', () => {
  const base = () =>
    new Told()
      .ok(0, 'write', [0, 1], [0, 1, 11], { zxid: 11 })
      .ok(0, 'write', [1, 2], [1, 2, 12], { zxid: 12 });
  const read = (told: Told, client: number, register: number, value: number, zxid: number) =>
    told.ok(client, 'read', [register, null], [register, value, zxid], { zxid });

  it('may be old, never older than what the reader saw of any register', () => {
    expectAccepted(checkPlainReads, read(base(), 1, 0, 0, 5));
    expectAccepted(checkPlainReads, read(read(base(), 1, 0, 0, 5), 1, 1, 2, 12));
    expectRefused(checkPlainReads, read(read(base(), 1, 0, 1, 11), 1, 0, 0, 5), 'replaced at');
    expectRefused(checkPlainReads, read(read(base(), 1, 1, 2, 12), 1, 0, 0, 5), 'replaced at');
  });

  it('show a client its own writes', () => {
    expectAccepted(checkPlainReads, read(base(), 0, 0, 1, 11));
    expectRefused(checkPlainReads, read(base(), 0, 0, 0, 5), 'replaced at');
  });

  it('show what was written, by one write, not what was refused', () => {
    expectRefused(checkPlainReads, read(base(), 1, 0, 9, 13), 'nobody had written');
    const twice = read(read(base().info(1, 'write', [0, 3]), 2, 0, 3, 13), 3, 0, 3, 14);
    expectRefused(checkPlainReads, twice, 'written twice');
    expectRefused(
      checkPlainReads,
      read(base().fail(1, 'write', [0, 3]), 2, 0, 3, 13),
      'nobody had',
    );
    const back = base().ok(1, 'write', [0, 4], [0, 4, 10], { zxid: 10 });
    expectRefused(checkPlainReads, back, 'was called after');
  });
});
