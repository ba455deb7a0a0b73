/**
 * Goal: members that were led by two leaders of one epoch never serve different data at equal
 * zxids: one history wins, everybody ends with it, both sides say so, and what is lost is kept.
 * Method: whole members; one gets an older copy of its directory back, so that a second leadership
 * of the same epoch writes as often as the first, while the member that knows of the first is away.
 */
import { describe, expect, it } from 'vitest';
import type { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  names,
  notes,
  serving,
  write,
} from './scenario.js';

interface Split {
  readonly ensemble: MemoryEnsemble;
  /** Alone has what was acknowledged first. */
  readonly knows: number;
  readonly wentBack: number;
  readonly lagged: number;
}

async function serve(ensemble: MemoryEnsemble, ...ids: readonly number[]): Promise<void> {
  await ensemble.until(() => ids.every((id) => ensemble.serves(id)), `did ${ids.join()} serve`);
}

/** Both halves have led the same epoch, and by default written equally often. */
async function split(seed: number, secondWrites = 20): Promise<Split> {
  const ensemble = await serving({ seed });
  const knows = ensemble.leader;
  const [wentBack = 0, lagged = 0] = [1, 2, 3].filter((id) => id !== knows);
  await write(ensemble, await connected(ensemble, knows), names('early', 10));
  await ensemble.stop(lagged);
  await ensemble.stop(wentBack);
  const copy = ensemble.copyOf(wentBack);
  await ensemble.start(wentBack);
  await serve(ensemble, knows, wentBack);
  await write(ensemble, await connected(ensemble, ensemble.leader), names('first', 20));
  await ensemble.timers.advance(2_000);
  await ensemble.stop(knows);
  await ensemble.stop(wentBack);
  ensemble.restore(wentBack, copy);
  await ensemble.start(wentBack, lagged);
  await serve(ensemble, wentBack, lagged);
  await write(ensemble, await connected(ensemble, ensemble.leader), names('second', secondWrites));
  return { ensemble, knows, wentBack, lagged };
}

/** How often a member has logged an event at error level. */
function errorsOf(ensemble: MemoryEnsemble, id: number, event: string): number {
  return ensemble.lines.filter((line) => {
    const said = JSON.parse(line);
    return said.member === id && said.level === 50 && line.includes(event);
  }).length;
}

function metric(ensemble: MemoryEnsemble, id: number, name: string): number {
  const { extraMetrics } = ensemble.member(id).status;
  return extraMetrics.find((one) => one.name === name)?.value ?? -1;
}

describe('two leaderships of one epoch', () => {
  it('are told apart when the member that knew the first one returns', async () => {
    const { ensemble, knows } = await split(3);
    await ensemble.start(knows);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    const ids = [1, 2, 3];
    const leader = ensemble.leader;
    // An error on both sides, an event of each, and counted.
    expect(errorsOf(ensemble, leader, 'sync.diverged')).toBe(1);
    expect(errorsOf(ensemble, knows, 'history.diverged')).toBe(1);
    expect(errorsOf(ensemble, knows, 'history.discarded')).toBe(1);
    for (const id of [leader, knows])
      expect(metric(ensemble, id, 'diverged_history_count')).toBe(1);
    expect(ids.map((id) => metric(ensemble, id, 'discarded_txn_count') >= 20)).toEqual(
      ids.map((id) => id === knows),
    );
    const kept = [...ensemble.kept].filter(([name]) => name.startsWith(`${knows}/discarded-`));
    const text = kept.flatMap(([, lines]) => lines).join('');
    for (const path of names('first', 20)) expect(text).toContain(`"path":"${path}"`);
    expect(text).not.toContain('password');
  });

  it('are told apart, too, when all are restarted at once', async () => {
    const { ensemble, knows, wentBack, lagged } = await split(4);
    await ensemble.stop(wentBack);
    await ensemble.stop(lagged);
    await ensemble.start(knows, wentBack, lagged);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    const reader = await connected(ensemble, knows);
    const xid = reader.exists('/second-19');
    await ensemble.until(() => reader.errorOf(xid) !== undefined, 'answered');
    expect(reader.errorOf(xid), 'the history that a quorum has').toBe(0);
  });

  it('are told apart over restarts of those that had synced with the second', async () => {
    const { ensemble, knows, wentBack, lagged } = await split(5, 40);
    for (const id of [wentBack, lagged]) {
      await ensemble.stop(id);
      await ensemble.start(id);
      await serve(ensemble, wentBack, lagged);
    }
    const told = notes(ensemble, 'sync.diverged');
    await ensemble.start(knows);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    expect(notes(ensemble, 'sync.diverged')).toBeGreaterThan(told);
    expect(notes(ensemble, 'digest.mismatch'), 'by then it would have been served').toBe(0);
  });
});
