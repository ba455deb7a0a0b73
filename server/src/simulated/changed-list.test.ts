/**
 * The list of members changes: what may serve, what waits and says for whom, what is refused.
 *
 * Every member starts with a file of its own. Two members that serve as leaders at the same time,
 * or a write that was acknowledged and is gone, are what must never be seen.
 */
import { describe, expect, it } from 'vitest';
import type { ServerAddress } from '../config/config.js';
import { MemoryEnsemble } from './memory-ensemble.js';
import { connected, write } from './scenario.js';

/** More than any election takes, with all its patience. */
const LONG_MS = 15_000;

class Changing {
  readonly ensemble: MemoryEnsemble;
  #servers: readonly ServerAddress[];

  constructor(seed = 1) {
    this.ensemble = new MemoryEnsemble({ size: 5, seed });
    this.#servers = this.ensemble.config.servers;
  }

  /** Starts members with a file that lists `list`. */
  async start(ids: readonly number[], list: readonly number[]): Promise<void> {
    const servers = this.#servers.filter(({ id }) => list.includes(id));
    for (const id of ids) this.ensemble.settings.set(id, { servers });
    await this.ensemble.start(...ids);
  }

  async stop(ids: readonly number[]): Promise<void> {
    for (const id of ids) await this.ensemble.stop(id);
  }

  async serve(ids: readonly number[]): Promise<void> {
    const { ensemble } = this;
    await ensemble.until(() => ids.every((id) => ensemble.serves(id)), `did ${ids} serve`);
  }

  /** Returns which of these members lead and serve; all of them must run. */
  leaders(ids: readonly number[]): readonly number[] {
    return ids.filter((id) => this.ensemble.member(id).status.mode === 'leader');
  }

  async wait(ids: readonly number[]): Promise<void> {
    for (let ms = 0; ms < LONG_MS; ms += 500) {
      await this.ensemble.timers.advance(500);
      for (const id of ids) expect(this.ensemble.serves(id), `member ${id}`).toBe(false);
    }
  }

  async write(id: number, path: string): Promise<void> {
    await write(this.ensemble, await connected(this.ensemble, id), [path]);
  }

  has(id: number, path: string): boolean {
    return this.ensemble.member(id).state.tree.children(0).includes(path.slice(1));
  }

  said(id: number, text: string): boolean {
    return this.ensemble.lines.some(
      (line) => line.includes(`"member":${id},`) && line.includes(text),
    );
  }
}

/** An ensemble of `list` that serves and has written `/first`. */
async function serving(list: readonly number[], seed = 1): Promise<Changing> {
  const changing = new Changing(seed);
  await changing.start(list, list);
  await changing.serve(list);
  await changing.write(list[0] ?? 0, '/first');
  return changing;
}

describe('two files at one time', () => {
  it('never make two leaders: 1 and 2 of {1,2,3} wait while 3 to 5 of {1..5} serve', async () => {
    const changing = await serving([1, 2, 3, 4, 5]);
    await changing.stop([1, 2]);
    await changing.start([1, 2], [1, 2, 3]);
    await changing.wait([1, 2]);
    expect(changing.leaders([3, 4, 5])).toHaveLength(1);
    await changing.write(3, '/others-go-on');
    for (const id of [1, 2]) {
      expect(changing.said(id, 'was 1, 2, 3, 4, 5 and is now 1, 2, 3: waiting for')).toBe(true);
      expect(changing.said(id, 'not here: 3')).toBe(true);
    }
    // What a directory has served with is not forgotten at the second start with the same file.
    await changing.stop([1, 2]);
    await changing.start([1, 2], [1, 2, 3]);
    await changing.wait([1, 2]);
    await changing.stop([1, 2]);
    await changing.start([1, 2], [1, 2, 3, 4, 5]);
    await changing.serve([1, 2, 3, 4, 5]);
    for (const id of [1, 2, 3, 4, 5]) expect(changing.has(id, '/others-go-on')).toBe(true);
  });

  it('never make two leaders while an ensemble grows member by member and one crashes', async () => {
    const changing = await serving([1, 2, 3]);
    await changing.start([4, 5], [1, 2, 3, 4, 5]);
    await changing.stop([1]);
    await changing.start([1], [1, 2, 3, 4, 5]);
    await changing.wait([1, 4, 5]);
    await changing.write(2, '/two-and-three');
    changing.ensemble.kill(2);
    await changing.wait([1, 4, 5, 3]);
    await changing.start([2], [1, 2, 3]);
    await changing.serve([2, 3]);
    await changing.wait([1, 4, 5]);
    await changing.stop([2, 3]);
    await changing.start([2, 3], [1, 2, 3, 4, 5]);
    await changing.serve([1, 2, 3, 4, 5]);
    for (const id of [1, 4, 5]) expect(changing.has(id, '/two-and-three')).toBe(true);
  });

  it('lose nothing when one member has given its promise and goes back to the file before', async () => {
    const changing = await serving([1, 2, 3, 4, 5]);
    await changing.stop([3, 4, 5]);
    await changing.start([3], [1, 2, 3]);
    await changing.wait([3]);
    await changing.stop([1, 2, 3]);
    await changing.start([3, 4, 5], [1, 2, 3, 4, 5]);
    // Of the list {1,2,3}, which member 3 has told others it would serve, it alone is here.
    await changing.wait([3]);
    expect(changing.leaders([3, 4, 5])).toEqual([]);
    await changing.start([1, 2], [1, 2, 3, 4, 5]);
    await changing.serve([1, 2, 3, 4, 5]);
  });
});

describe('a list that was given by mistake', () => {
  it('to a member beside one without a vote costs nothing once all are back with the right one', async () => {
    const changing = await serving([1, 2, 3]);
    await changing.stop([1, 2, 3]);
    changing.ensemble.wipe(2);
    await changing.start([1], [1, 2]);
    await changing.wait([1]);
    await changing.stop([1]);
    await changing.start([1, 2, 3], [1, 2, 3]);
    await changing.serve([1, 2, 3]);
    expect(changing.has(2, '/first')).toBe(true);
  });
});

describe('the procedure to change the list: stop all, change all files, start all', () => {
  it.each([
    [
      [1, 2, 3],
      [1, 2, 3, 4, 5],
    ],
    [[1], [1, 2, 3]],
    [
      [1, 2, 3, 4, 5],
      [1, 2, 3],
    ],
    [
      [1, 2, 3],
      [1, 2],
    ],
    [
      [1, 2, 3],
      [2, 3, 4],
    ],
  ])(
    'from %j to %j keeps everything, and each member then stands the loss of one',
    async (...lists) => {
      const [before, after] = lists;
      const changing = await serving(before);
      await changing.stop(before);
      await changing.start(after, after);
      await changing.serve(after);
      expect(changing.leaders(after)).toHaveLength(1);
      for (const id of after) expect(changing.has(id, '/first')).toBe(true);
      await changing.write(after[0] ?? 0, '/second');
      if (after.length < 3) return;
      const lost = after.at(-1) ?? 0;
      changing.ensemble.kill(lost);
      const left = after.filter((id) => id !== lost);
      await changing.serve(left);
      await changing.write(left[0] ?? 0, '/without-one');
      for (const id of left) {
        await changing.stop([id]);
        await changing.start([id], after);
      }
      await changing.serve(left);
      expect(changing.said(left[0] ?? 0, '"msg":"list.settled"')).toBe(true);
    },
  );

  it('waits for every member where too few of the new list have a vote, and says so', async () => {
    const changing = await serving([1]);
    await changing.stop([1]);
    await changing.start([1, 2], [1, 2, 3]);
    await changing.wait([1, 2]);
    expect(changing.said(1, 'was 1 and is now 1, 2, 3')).toBe(true);
    expect(changing.said(1, 'for all of 1, 2, 3 where some are new')).toBe(true);
    expect(changing.said(1, 'not connected: 3')).toBe(true);
    await changing.start([3], [1, 2, 3]);
    await changing.serve([1, 2, 3]);
    expect(changing.has(3, '/first')).toBe(true);
  });

  it.each([
    [[1, 2, 3], [1], 1],
    [[1, 2, 3], [3, 4, 5], 3],
    [[1, 2, 3, 4, 5], [1, 2], 2],
  ])(
    'from %j to %j is refused at once at member %i, with the list that must stay',
    async (...at) => {
      const [before, after, id] = at;
      const changing = await serving(before);
      await changing.stop(before);
      await expect(changing.start([id], after)).rejects.toThrow(
        /last served with .*: at least \d of those must stay in the list, and only/,
      );
    },
  );
});

describe('a shorter peerTimeoutMs', () => {
  it('is waited for until nobody serves by the longer one any more', async () => {
    const changing = await serving([1, 2, 3]);
    const { ensemble } = changing;
    const longMs = ensemble.config.peerTimeoutMs;
    await changing.stop([1, 2, 3]);
    const startedMs = ensemble.timers.nowMs();
    for (const id of [1, 2, 3]) {
      const servers = ensemble.config.servers.filter((server) => server.id <= 3);
      ensemble.settings.set(id, { servers, peerTimeoutMs: longMs / 2 });
    }
    await ensemble.start(1, 2, 3);
    await changing.serve([1, 2, 3]);
    expect(ensemble.timers.nowMs() - startedMs).toBeGreaterThanOrEqual(2 * longMs);
    await changing.stop([1, 2, 3]);
    const againMs = ensemble.timers.nowMs();
    await ensemble.start(1, 2, 3);
    await changing.serve([1, 2, 3]);
    expect(ensemble.timers.nowMs() - againMs).toBeLessThan(2 * longMs);
  });
});
