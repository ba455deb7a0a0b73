/**
 * Node and Java on the same paths: our lock, read/write lock, semaphore, latch and double barrier
 * against those of Apache Curator, as Debian ships it.
 *
 * Who must wait is in line before anything else happens; that somebody is let in is awaited, and
 * that nobody else is, is looked at in that moment. Sessions of either side are ended behind its
 * back. Curator is driven line by line, see foreign/curator/MixedDriver.java.
 */
import {
  DoubleBarrier,
  LeaderLatch,
  Lock,
  LockTimeoutError,
  ReadWriteLock,
  Semaphore,
} from '@rookery/client';
import { describe, expect, test } from 'vitest';
import { compileJava, mayLackCurator } from '../../foreign/curator.js';
import type { ForeignActor } from '../../foreign/driver.js';
import { LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import {
  countUp,
  type Enter,
  endSession,
  entering,
  foreignEntering,
  inOrder,
  overOf,
  sessionOf,
  sharedDriver,
} from '../mixed.js';
import { sharedEnsemble } from '../shared-ensemble.js';

/** How long somebody tries who cannot be let in, however long it takes. */
const REFUSED_MS = 100;

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });
const driver = sharedDriver(ensemble, () => compileJava('MixedDriver'));

const node = () => useDirectClient(ensemble());
const java = () => driver().actor();

describe.skipIf(mayLackCurator())('Node and Curator', () => {
  test('lock: one of either language at a time, in the order of asking', async () => {
    const path = '/mixed/lock/order';
    const control = await node();
    await inOrder(control, path, {
      java: foreignEntering(java(), 'lock', path),
      node: entering(() => new Lock(control, path).acquire()),
      'java again': foreignEntering(java(), 'lock', path),
      'node again': entering(() => new Lock(control, path).acquire()),
    });
  });

  test('lock: who only tries is refused while the other holds, and leaves the line', async () => {
    const path = '/mixed/lock/refused';
    const lock = new Lock(await node(), path);
    const actor = java();
    const lease = await lock.acquire();
    expect(await actor.call('lock.acquire', path, REFUSED_MS)).toEqual(['false']);
    expect(await actor.call('lock.participants', path)).toEqual([lease.path]);
    await lease.release();
    expect(await actor.call('lock.acquire', path, 60_000)).toEqual(['true']);
    expect(await lock.tryAcquire()).toBeNull();
    await expect(lock.acquire({ timeoutMs: REFUSED_MS })).rejects.toThrow(LockTimeoutError);
    // What was on its way to the server when the time was up is deleted in the background.
    await untilNames(await node(), path, 1);
    expect(await lock.contestants()).toHaveLength(1);
    await actor.call('lock.release', path);
  });

  test('lock: nothing is lost of what both count under it in three steps', async () => {
    const [path, counter] = ['/mixed/lock/count', '/mixed-count'];
    const rounds = 15;
    const clients = await Promise.all([node(), node()]);
    await clients[0].create(counter, '0');
    const counting = clients.map(async (client) => {
      const lock = new Lock(client, path);
      for (let i = 0; i < rounds; i++) await lock.run(() => countUp(client, counter));
    });
    const actors = [java(), java()];
    const all = [...counting, ...actors.map((actor) => actor.call('count', path, counter, rounds))];
    await Promise.all(all);
    await clients[0].sync(counter);
    const { data } = await clients[0].getData(counter);
    expect(Number(data?.toString())).toBe(rounds * all.length);
  });

  test('lock: the session of a holder ends and the other language gets in', async () => {
    const path = '/mixed/lock/ended';
    const control = await node();
    const doomed = await node();
    const [first, second] = [java(), java()];
    await first.call('lock.acquire', path);
    const waiting = new Lock(doomed, path).acquire();
    await untilNames(control, path, 2);
    await endSession(ensemble(), await sessionOf(first));
    const lease = await waiting;
    const next = second.call('lock.acquire', path);
    await untilNames(control, path, 2);
    await endSession(ensemble(), await doomed.connected());
    await next;
    await overOf(lease);
    expect(await namesIn(control, path)).toHaveLength(1);
    await second.call('lock.release', path);
  });

  test('read/write lock: readers of both share, writers of either are alone', async () => {
    const path = '/mixed/rw/share';
    const control = await node();
    const lock = new ReadWriteLock(control, path);
    const actors = [java(), java(), java()] as const;
    const [reader, other, writer] = actors;
    const first = await lock.read.acquire();
    await reader.call('read.acquire', path);
    expect(await other.call('write.acquire', path, REFUSED_MS)).toEqual(['false']);
    await expect(lock.write.acquire({ timeoutMs: REFUSED_MS })).rejects.toThrow(LockTimeoutError);
    await Promise.all([first.release(), reader.call('read.release', path)]);
    await untilNames(control, path, 0);
    await inOrder(control, path, {
      'node writes': entering(() => lock.write.acquire()),
      'java reads': foreignEntering(reader, 'read', path),
      'java writes': foreignEntering(writer, 'write', path),
      'node reads': entering(() => lock.read.acquire()),
      'java writes again': foreignEntering(other, 'write', path),
      'node writes again': entering(() => lock.write.acquire()),
    });
  });

  test('read/write lock: a writer of either becomes a reader, beside the readers of the other', async () => {
    const path = '/mixed/rw/downgrade';
    const control = await node();
    const lock = new ReadWriteLock(control, path);
    const [actor, other] = [java(), java()];
    await actor.call('write.acquire', path);
    await actor.call('read.acquire', path);
    const reading = lock.read.acquire();
    await untilNames(control, path, 3);
    await actor.call('write.release', path);
    const reader = await reading;
    await expect(lock.write.acquire({ timeoutMs: REFUSED_MS })).rejects.toThrow(LockTimeoutError);
    await Promise.all([reader.release(), actor.call('read.release', path)]);

    const written = await lock.write.acquire();
    const next = actor.call('read.acquire', path);
    await untilNames(control, path, 2);
    const read = await lock.downgrade(written);
    await next;
    expect(read.held).toBe(true);
    expect(await other.call('write.acquire', path, REFUSED_MS)).toEqual(['false']);
    await actor.call('read.release', path);
    const writing = other.call('write.acquire', path);
    await untilNames(control, path, 2);
    await read.release();
    await writing;
    await other.call('write.release', path);
    await untilNames(control, path, 0);
  });

  test('semaphore: never more leases than there are, whoever has them', async () => {
    const path = '/mixed/semaphore/many';
    const maxLeases = 3;
    const rounds = 6;
    let held = 0;
    let most = 0;
    const visit = async (enter: Enter) => {
      for (let i = 0; i < rounds; i++) {
        const leave = await enter();
        held += 1;
        most = Math.max(most, held);
        await new Promise(setImmediate);
        held -= 1;
        await leave();
      }
    };
    const clients = await Promise.all([node(), node(), node(), node()]);
    await Promise.all([
      ...clients.map((client) => {
        const semaphore = new Semaphore(client, path, { maxLeases });
        return visit(entering(() => semaphore.acquire()));
      }),
      ...[java(), java(), java(), java()].map((actor) => {
        return visit(foreignEntering(actor, 'semaphore', path, String(maxLeases), '1'));
      }),
    ]);
    expect(most).toBeLessThanOrEqual(maxLeases);
    await untilNames(clients[0], `${path}/leases`, 0);
    await untilNames(clients[0], `${path}/locks`, 0);
  });

  test('semaphore: several leases at once, all or none, and those of an ended session are free', async () => {
    const path = '/mixed/semaphore/several';
    const client = await node();
    const semaphore = new Semaphore(client, path, { maxLeases: 3 });
    const [actor, other] = [java(), java()];
    const leases = await semaphore.acquireMany(2);
    expect(await actor.call('semaphore.acquire', path, 3, 2, REFUSED_MS)).toEqual(['false']);
    // What Curator took back may not have reached this client's member yet.
    await untilNames(client, `${path}/leases`, 2);
    expect(await semaphore.holders()).toHaveLength(2);
    expect(await actor.call('semaphore.acquire', path, 3, 1)).toEqual(['true']);
    await expect(semaphore.acquire({ timeoutMs: REFUSED_MS })).rejects.toThrow(LockTimeoutError);
    const waiting = semaphore.acquire();
    await untilNames(client, `${path}/leases`, 4);
    await endSession(ensemble(), await sessionOf(actor));
    leases.push(await waiting);
    const next = other.call('semaphore.acquire', path, 3, 3);
    await untilNames(client, `${path}/locks`, 1);
    for (const lease of leases) await lease.release();
    expect(await next).toEqual(['true']);
    await other.call('semaphore.release', path);
    await untilNames(client, `${path}/leases`, 0);
  });

  test('semaphore: of two different maxima each side keeps to its own', async () => {
    const path = '/mixed/semaphore/mismatch';
    const client = await node();
    const semaphore = new Semaphore(client, path, { maxLeases: 2 });
    const actor = java();
    const lease = await semaphore.acquire();
    expect(await actor.call('semaphore.acquire', path, 1, 1, REFUSED_MS)).toEqual(['false']);
    await lease.release();
    expect(await actor.call('semaphore.acquire', path, 1, 1)).toEqual(['true']);
    const second = await semaphore.acquire();
    await actor.call('semaphore.release', path);
    await second.release();
    await untilNames(client, `${path}/leases`, 0);
  });

  test('semaphore: a shared count that either side changes lets the other in', async () => {
    const [path, countPath] = ['/mixed/semaphore/shared', '/mixed/semaphore-count'];
    const client = await node();
    const semaphore = new Semaphore(client, path, { maxLeases: { countPath, seed: 1 } });
    const [actor, setter] = [java(), java()];
    const first = await semaphore.acquire();
    expect(await setter.call('count.get', countPath)).toEqual(['00000001']);
    const waiting = semaphore.acquire();
    await untilNames(client, `${path}/leases`, 2);
    await setter.call('count.set', countPath, 2);
    const second = await waiting;
    const third = actor.call('semaphore.acquire', path, countPath, 1);
    await untilNames(client, `${path}/leases`, 3);
    await client.setData(countPath, Buffer.from([0, 0, 0, 3]));
    expect(await third).toEqual(['true']);
    await Promise.all([first.release(), second.release(), actor.call('semaphore.release', path)]);
  });

  test('latch: one leads, both see who, and the next in line follows', async () => {
    const path = '/mixed/latch/order';
    const control = await node();
    const [actor, other] = [java(), java()];
    const latch = new LeaderLatch(control, path, { id: 'node' });
    await actor.call('latch.start', path, 'java');
    await actor.call('latch.await', path);
    latch.start();
    await untilNames(control, path, 2);
    await other.call('latch.start', path, 'java too');
    await untilNames(control, path, 3);
    const next = other.call('latch.await', path);
    const everybody = ['java', 'node', 'java too'];
    expect((await latch.participants()).map(({ id }) => id)).toEqual(everybody);
    expect(await actor.call('latch.participants', path)).toEqual(everybody);
    expect([latch.hasLeadership, (await latch.leader())?.id]).toEqual([false, 'java']);
    await actor.call('latch.close', path);
    await latch.waitForLeadership();
    const watcher = java();
    await watcher.call('latch.start', path, 'java last');
    expect(await watcher.call('latch.leader', path)).toEqual(['node']);
    expect(await watcher.call('latch.has', path)).toEqual(['false']);
    await latch.close();
    await next;
    expect(await watcher.call('latch.leader', path)).toEqual(['java too']);
    await other.call('latch.close', path);
    await watcher.call('latch.await', path);
    await watcher.call('latch.close', path);
    await untilNames(control, path, 0);
  });

  test('latch: the session of the leader ends, the other language leads, it waits behind', async () => {
    const path = '/mixed/latch/ended';
    const control = await node();
    const doomed = await node();
    const actor = java();
    const latch = new LeaderLatch(doomed, path, { id: 'node' });
    const term = await latch.waitForLeadership();
    await actor.call('latch.start', path, 'java');
    await untilNames(control, path, 2);
    const following = actor.call('latch.await', path);
    await endSession(ensemble(), await doomed.connected());
    await following;
    await overOf(term);
    await untilNames(control, path, 2);
    expect((await latch.participants()).map(({ id }) => id)).toEqual(['java', 'node']);
    expect(latch.hasLeadership).toBe(false);
    await endSession(ensemble(), await sessionOf(actor));
    await latch.waitForLeadership();
    await untilNames(control, path, 2);
    expect(await actor.call('latch.leader', path)).toEqual(['node']);
    expect(await actor.call('latch.has', path)).toEqual(['false']);
    await latch.close();
    await actor.call('latch.await', path);
    await actor.call('latch.close', path);
    await untilNames(control, path, 0);
  });

  test('double barrier: members of both begin together and end together, again and again', async () => {
    const path = '/mixed/barrier/together';
    const control = await node();
    const barrier = new DoubleBarrier(control, path, { memberCount: 3 });
    const first = barrierOf(java(), path, 3);
    const second = barrierOf(java(), path, 3);
    const ours = { enter: () => barrier.enter(), leave: () => barrier.leave() };
    for (const members of [
      [first, second, ours],
      [ours, first, second],
      [second, ours, first],
    ]) {
      for (const step of ['enter', 'leave'] as const) {
        let asked = 0;
        const passing = members.map(async (member) => {
          asked += 1;
          await member[step]();
          expect(asked).toBe(3);
          return step;
        });
        expect(await Promise.all(passing)).toEqual([step, step, step]);
      }
      expect(await namesIn(control, path)).toEqual([]);
    }
  });

  test('double barrier: nobody waits for a member of either language whose session has ended', async () => {
    const path = '/mixed/barrier/ended';
    const [control, doomed] = await Promise.all([node(), node()]);
    const ours = [control, doomed].map((client) => {
      return new DoubleBarrier(client, path, { memberCount: 4 });
    });
    const actors = [java(), java()] as const;
    const theirs = actors.map((actor) => barrierOf(actor, path, 4));
    await Promise.all([...ours, ...theirs].map((member) => member.enter()));
    const leaving = [ours[0]?.leave(), theirs[0]?.leave()];
    await endSession(ensemble(), await doomed.connected());
    await endSession(ensemble(), await sessionOf(actors[1]));
    await Promise.all(leaving);
    await untilNames(control, path, 0);
  });
});

function barrierOf(actor: ForeignActor, path: string, memberCount: number) {
  return {
    enter: () => actor.call('barrier.enter', path, memberCount),
    leave: () => actor.call('barrier.leave', path),
  };
}
