/**
 * Votes accepts a founding, elections of members, and members with lost disks that synchronize
 * first; it rejects every message of such a member that counts.
 */
import { describe, expect, it } from 'vitest';
import {
  ackEpoch,
  from,
  history,
  install,
  newLeader,
  persisted,
  save,
  send,
  TICK,
  Told,
  vote,
} from './testing/observations.js';
import { newVotes } from './votes.js';

const NOTHING = { base: 0, ranges: [] };
const MEMBER = { ensembleId: 'ensemble', founded: true, acceptedEpoch: 1, currentEpoch: 1 };
const VOTE = send(1, vote({ leader: 2, epoch: 1 }));

/** Founded: members 1 and 2 have the id, and member 1 knows that a quorum has it. */
function founded(): Told {
  const run = new Told(newVotes).started(1).started(2).started(3);
  run.step(1, TICK, save(1, 1, 0, '')).step(1, persisted(1));
  for (const id of [2, 3]) run.step(id, TICK, send(1, ackEpoch(1, 0, NOTHING)));
  run.step(1, TICK, save(2, 1, 1)).step(1, persisted(2));
  run.step(2, from(1, newLeader(1, 0)), save(1, 1, 1)).step(2, persisted(1));
  run.step(3, from(1, newLeader(1, 0)), save(1, 1, 1)).step(3, persisted(1));
  return run.step(1, TICK, save(3, 1, 1, 'ensemble', true)).step(1, persisted(3));
}

/** Member 2 promises epoch 2 to member 1, which then enters it. */
function entersWith(run: Told): Told {
  run.step(2, TICK, send(1, ackEpoch(2, 1, history(1, 1, 3))));
  return run.step(1, TICK, save(9, 2, 2, 'ensemble', true));
}

describe('the checker of votes', () => {
  it('accepts a founding, votes of members, and an epoch that two members promised', () => {
    founded().step(2, TICK, VOTE);
    entersWith(founded());
  });

  it('accepts a wiped member that votes for nobody, and for any member once it has synchronized', () => {
    const run = founded().struck(2, 'wiped').started(2);
    run.step(2, TICK, send(1, vote({ leader: 0, ensembleId: '' })));
    run.step(2, TICK, install(1, 0)).step(2, from(1, newLeader(1, 0)), save(2, 1, 1));
    run.step(2, persisted(2), VOTE);
    entersWith(run);
  });

  it('accepts a member that died while it became a member again, if its disk says so', () => {
    const run = founded().struck(2, 'wiped').started(2);
    run.step(2, from(1, newLeader(1, 0)), save(1, 1, 1)).started(2, MEMBER);
    run.step(2, TICK, VOTE);
  });

  it('rejects the vote of a wiped member, with an ensemble id or without', () => {
    const run = founded().struck(2, 'wiped').started(2);
    expect(() => run.step(2, TICK, VOTE)).toThrow(
      /does not count before.*: member 2 .*votes for 2, but was wiped/,
    );
    const nameless = founded().struck(2, 'wiped').started(2);
    const other = send(1, vote({ leader: 1, ensembleId: '' }));
    expect(() => nameless.step(2, TICK, other)).toThrow(/votes for 1, but was wiped/);
  });

  it('rejects its vote as long as NEWLEADER is not durable', () => {
    const run = founded().struck(2, 'wiped').started(2);
    run.step(2, from(1, newLeader(1, 0)), save(1, 1, 1));
    expect(() => run.step(2, TICK, VOTE)).toThrow(/votes for 2, but was wiped/);
  });

  it('rejects the vote of a damaged member that keeps its id, also right after its snapshot', () => {
    const damaged = { ...MEMBER, damaged: 'a record does not check' };
    const run = () => founded().struck(2, 'flipped').started(2, damaged);
    expect(() => run().step(2, TICK, VOTE)).toThrow(/has not synced/);
    expect(() => run().step(2, TICK, install(1, 0))).toThrow(/while its disk says "ensemble"/);
    expect(() => run().started(2, MEMBER).step(2, TICK, VOTE)).toThrow(/has not synced/);
    run()
      .step(2, TICK, save(1, 1, 1, ''))
      .step(2, TICK, install(2, 0));
  });

  it('rejects an epoch that is entered with the promise of a wiped member, by itself or another', () => {
    const wiped = founded().struck(2, 'wiped').started(2);
    expect(() => entersWith(wiped)).toThrow(
      /member 1 .*enters epoch 2 with 1 voters, and without a vote 2/,
    );
    const self = founded().struck(1, 'wiped').started(1);
    expect(() => entersWith(self)).toThrow(/without a vote 1/);
  });

  it('rejects an epoch that is entered without a quorum of promises to this leader', () => {
    const run = () => founded().step(2, TICK, send(3, ackEpoch(2, 1, NOTHING)));
    expect(() => run().step(1, TICK, save(4, 2, 2))).toThrow(
      /once a quorum has promised it: member 1 .*enters epoch 2 with 1 voters \[/,
    );
    expect(() => entersWith(founded()).step(1, TICK, save(9, 3, 3))).toThrow(/epoch 3 with 1/);
  });
});
