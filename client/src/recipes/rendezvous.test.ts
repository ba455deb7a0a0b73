import { NodeExistsError, NoNodeError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, LeaseLostError, LeaseReleasedError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { newWorld, turns, until } from '../testing/lock-world.js';
import { Rendezvous, type RendezvousOptions } from './rendezvous.js';
import { RecipeStateError, WaitTimeoutError } from './shared/errors.js';

const PATH = '/jobs/1/master';

const TEXT = {
  parse: (data: Buffer | null) => data?.toString() ?? '',
  format: (value: string) => value,
};

function setUp(options: Partial<RendezvousOptions<string>> = {}) {
  const { server, surroundings, one, other } = newWorld();
  const worker = new FakeClient(server, { surroundings });
  const at = (client: FakeClient) => new Rendezvous(client, PATH, { ...TEXT, ...options });
  return {
    server,
    surroundings,
    worker,
    other,
    one,
    scheduler: at(one),
    master: at(other),
    ofWorker: at(worker),
  };
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('a rendezvous', () => {
  it('is opened, filled in later, met by those who came before, and ended', async () => {
    const { server, one, other, worker, scheduler, master, ofWorker } = setUp();
    const early = ofWorker.meet();
    await until(() => worker.watchCount === 1);
    const lease = await scheduler.open();
    await turns(20);
    expect(server.read(PATH).data).toBeNull();
    await master.fill('host:80');
    const meeting = await early;
    expect(meeting.value).toBe('host:80');
    expect((await master.meet()).value).toBe('host:80');
    expect(lease.held).toBe(true);
    await lease.release();
    await until(() => meeting.signal.aborted);
    expect(meeting.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(server.stat(PATH)).toBeNull();
    await turns(5);
    expectNothingLeft(one, other, worker);
  });

  it('is over with the session of the one who opened it', async () => {
    const { one, scheduler, master } = setUp();
    const lease = await scheduler.open();
    await master.fill('x');
    const meeting = await master.meet();
    one.expire();
    expect(lease.held).toBe(false);
    await until(() => meeting.signal.aborted);
  });

  it('is open once, filled once, and only while it is open', async () => {
    const { scheduler, master } = setUp();
    await expect(master.fill('x')).rejects.toThrow(NoNodeError);
    await scheduler.open();
    await expect(master.open()).rejects.toThrow(NodeExistsError);
    await master.fill('x');
    await master.fill('x');
    await expect(master.fill('y')).rejects.toThrow(RecipeStateError);
  });

  it.each(['reply-lost', 'request-lost'] as const)(
    'is opened and filled though a %s',
    async (f) => {
      const { server, surroundings, one, other, scheduler, master } = setUp();
      await one.create('/jobs');
      await one.create('/jobs/1');
      one.failNext('create', f);
      const opened = scheduler.open();
      await surroundings.settle();
      const lease = await opened;
      expect(server.stat(PATH)?.czxid).toBe(lease.fencingToken);
      other.failNext('setData', f);
      const filled = master.fill('x');
      await surroundings.settle();
      await filled;
      expect(server.read(PATH).data?.toString()).toBe('x');
      await lease.release();
      expect(server.stat(PATH)).toBeNull();
    },
  );

  it('is waited for until time, signal, session or client end it', async () => {
    const { surroundings, worker, scheduler, ofWorker } = setUp();
    await scheduler.open();
    const late = ofWorker.meet({ timeoutMs: 100 });
    late.catch(() => {});
    await until(() => worker.watchCount === 1);
    surroundings.advance(100);
    await expect(late).rejects.toThrow(WaitTimeoutError);
    const aborted = ofWorker.meet({ signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    const lost = ofWorker.meet();
    lost.catch(() => {});
    await until(() => worker.watchCount === 1);
    worker.expire();
    await expect(lost).rejects.toThrow(SessionExpiredError);
    await until(() => worker.state === 'connected');
    const closed = ofWorker.meet();
    closed.catch(() => {});
    await until(() => worker.watchCount === 1);
    await worker.close();
    await expect(closed).rejects.toThrow(ClientClosedError);
    expectNothingLeft(worker);
  });

  it('a meeting goes on over sessions, and ends with end() or the client', async () => {
    const { server, worker, scheduler, master, ofWorker } = setUp();
    const lease = await scheduler.open();
    await master.fill('x');
    const [meeting, other] = [await ofWorker.meet(), await ofWorker.meet()];
    worker.expire();
    await until(() => worker.state === 'connected' && worker.watchCount === 2);
    await turns(20);
    expect(meeting.signal.aborted).toBe(false);
    await other.end();
    expect(other.signal.reason).toBeInstanceOf(LeaseReleasedError);
    // Ended and opened again behind its back: it is another one.
    worker.comesBack = false;
    worker.loseConnection();
    await lease.release();
    await scheduler.open();
    expect(server.stat(PATH)).not.toBeNull();
    worker.comeBack();
    await until(() => meeting.signal.aborted);
    expectNothingLeft(worker);
    await master.fill('y');
    const last = await ofWorker.meet();
    await worker.close();
    await until(() => last.signal.aborted);
    expect(last.signal.reason).toMatchObject({ lossCause: 'closed' });
    expectNothingLeft(worker);
  });
});
