/**
 * A clean stop of whole members: what is on disk when somebody does not wait for its end.
 */
import { describe, expect, it } from 'vitest';
import { StorageFault } from '../storage/errors.js';
import type { MemoryEnsemble } from './memory-ensemble.js';
import { connected, everyoneServes, expectEqual, names, serving, write } from './scenario.js';
import type { MemoryStore } from './storage/memory-store.js';

/** How many of the records of meta say that the log went beyond its base. */
function marked(tree: MemoryStore): number {
  let count = 0;
  tree.tamper('meta', (entries) => {
    for (const stored of entries.values()) {
      if (/"recordedZxid":[1-9]/.test(Buffer.from(stored).toString('latin1'))) count += 1;
    }
  });
  return count;
}

/** Moves time until the member is closed. Awaits `beforeStep` before each millisecond of it. */
async function close(
  ensemble: MemoryEnsemble,
  id: number,
  beforeStep: () => Promise<void> = async () => {},
): Promise<void> {
  let isClosed = false;
  void ensemble
    .member(id)
    .close()
    .then(() => {
      isClosed = true;
    });
  while (!isClosed) {
    await beforeStep();
    await ensemble.timers.advance(1);
  }
}

describe('a clean stop', () => {
  it('marks the end of the log before it touches the tree, which may take long', async () => {
    const ensemble = await serving();
    const id = ensemble.leader;
    await write(ensemble, await connected(ensemble, id), names('a', 20));
    const [tree, log] = [ensemble.treeOf(id), ensemble.logOf(id)];
    const before = { tree: tree.changeCount, log: log.changeCount };
    const seen = new Set<string>();
    const look = () => seen.add(`${tree.changeCount - before.tree} ${marked(tree)}`);
    await close(ensemble, id, async () => {
      for (let microtasks = 0; microtasks < 1_000; microtasks++) {
        look();
        await null;
      }
    });
    // Where the log ends, in both records of meta, then the checkpoint; nothing else.
    expect([...seen]).toEqual(['0 0', '1 1', '2 2', '3 2']);
    expect(log.changeCount).toBe(before.log);
    ensemble.kill(id);
    await ensemble.start(id);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it.each([
    ['the end of the log', 1],
    ['the checkpoint', 3],
  ])('ends with an error if %s cannot be written', async (_, change) => {
    const ensemble = await serving();
    const id = ensemble.leader;
    await write(ensemble, await connected(ensemble, id), names('a', 20));
    const member = ensemble.member(id);
    const [tree, log] = [ensemble.treeOf(id), ensemble.logOf(id)];
    tree.failAt(tree.changeCount + change, 'before');
    await close(ensemble, id);
    await expect(member.closed).rejects.toThrow(StorageFault);
    await expect(log.list(), 'its storage is closed').rejects.toThrow(StorageFault);
  });

  it('ends with an error if a write that was under way fails', async () => {
    const ensemble = await serving();
    const id = ensemble.leader;
    const client = await connected(ensemble, id);
    const member = ensemble.member(id);
    const log = ensemble.logOf(id);
    ensemble.hang(id);
    client.create('/a', '');
    await ensemble.timers.advance(50);
    log.failAt(log.changeCount + 1, 'before');
    const closed = close(ensemble, id);
    ensemble.unhang(id);
    await closed;
    await expect(member.closed).rejects.toThrow(StorageFault);
  });
});
