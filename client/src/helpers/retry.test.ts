/** Policies as numbers; retry() on manual time over sessions that come and go. */
import {
  ConnectionLossError,
  NoNodeError,
  SessionExpiredError,
  ThrottledOpError,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import {
  exponentialBackoff,
  noRetry,
  type RetryPolicy,
  retryForever,
  retryUntilElapsed,
} from '../api/retry-policy.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { retry } from './retry.js';

const ALMOST_ONE = () => 0.999999;

function setUp() {
  const surroundings = new FakeSurroundings();
  const client = new FakeClient(new FakeServer(), { surroundings });
  return { surroundings, client };
}

function delays(policy: RetryPolicy, count: number): (number | null)[] {
  return Array.from({ length: count }, (_, attempt) => {
    const delayMs = policy(attempt, 0, ALMOST_ONE);
    return delayMs === null ? null : Math.round(delayMs);
  });
}

describe('a retry policy', () => {
  it('doubles its bound up to the largest delay and ends after the last attempt', () => {
    const policy = exponentialBackoff({ baseMs: 100, maxMs: 500, attemptsMax: 5 });
    expect(delays(policy, 6)).toEqual([100, 200, 400, 500, 500, null]);
  });

  it('may wait for no time at all: the jitter is full', () => {
    expect(exponentialBackoff({ baseMs: 100, maxMs: 500 })(3, 0, () => 0)).toBe(0);
  });

  it('stays finite after thousands of attempts', () => {
    expect(retryForever({ baseMs: 1, maxMs: 1_000 })(5_000, 0, ALMOST_ONE)).toBeLessThan(1_000);
  });

  it('until elapsed gives no delay that would end too late', () => {
    const policy = retryUntilElapsed(() => 100, 1_000);
    expect(policy(0, 900, ALMOST_ONE)).toBe(100);
    expect(policy(0, 901, ALMOST_ONE)).toBeNull();
  });

  it('none gives up at once', () => {
    expect(noRetry(0, 0, ALMOST_ONE)).toBeNull();
  });
});

describe('retry()', () => {
  it('tries again after a passing trouble, with the delays of the policy', async () => {
    const { client, surroundings } = setUp();
    const times: number[] = [];
    const result = retry(
      client,
      () => 100,
      async (attempt) => {
        times.push(surroundings.nowMs());
        if (attempt < 2) throw new ThrottledOpError();
        return 'done';
      },
    );
    await surroundings.settle();
    expect(await result).toBe('done');
    expect(times).toEqual([0, 100, 200]);
  });

  it('gives the last error when the policy gives up, and leaves nothing behind', async () => {
    const { client, surroundings } = setUp();
    const failing = retry(client, exponentialBackoff({ baseMs: 1, maxMs: 1, attemptsMax: 2 }), () =>
      Promise.reject(new ThrottledOpError('/a')),
    );
    const settled = expect(failing).rejects.toThrow(ThrottledOpError);
    await surroundings.settle();
    await settled;
    expect([surroundings.timerCount, client.listenerCount]).toEqual([0, 0]);
  });

  it('does not repeat what is an answer', async () => {
    const { client } = setUp();
    let tries = 0;
    const failing = retry(
      client,
      () => 0,
      async () => {
        tries++;
        throw new NoNodeError('/a');
      },
    );
    await expect(failing).rejects.toThrow(NoNodeError);
    expect(tries).toBe(1);
  });

  it('repeats what may have taken effect only when that does no harm', async () => {
    const { client, surroundings } = setUp();
    const lost = () => Promise.reject(new ConnectionLossError('/a', { ambiguous: true }));
    await expect(retry(client, () => 0, lost)).rejects.toThrow(ConnectionLossError);
    let tries = 0;
    const done = retry(
      client,
      () => 0,
      () => (tries++ === 0 ? lost() : Promise.resolve(1)),
      {
        idempotent: true,
      },
    );
    await surroundings.settle();
    expect(await done).toBe(1);
  });

  it('never goes on in another session, even when the loss fell into the pause', async () => {
    const { client, surroundings } = setUp();
    const first = client.session?.id;
    const sessions: (bigint | undefined)[] = [];
    const failing = retry(
      client,
      () => 1_000,
      async (_, { session }) => {
        sessions.push(session);
        throw new ThrottledOpError();
      },
    );
    const settled = expect(failing).rejects.toThrow(SessionExpiredError);
    await new Promise(setImmediate);
    client.expire();
    await settled;
    expect(sessions).toEqual([first]);
    expect(surroundings.timerCount).toBe(0);
  });

  it('goes on in the next session where that was asked for', async () => {
    const { client, surroundings } = setUp();
    const done = retry(
      client,
      () => 10,
      async (attempt, { session }) => {
        if (attempt === 0) {
          client.expire();
          throw new SessionExpiredError();
        }
        return { attempt, session };
      },
      { session: 'any' },
    );
    await surroundings.settle();
    expect(await done).toEqual({ attempt: 1, session: undefined });
  });

  it('refuses a session that is over already', async () => {
    const { client } = setUp();
    const old = client.session?.id ?? 0n;
    client.expire();
    const stale = retry(
      client,
      () => 0,
      (_, given) => client.exists('/', given),
      { session: old },
    );
    await expect(stale).rejects.toThrow(SessionExpiredError);
  });

  it('remembers that an earlier try may have taken effect, whatever ends the last one', async () => {
    const { client, surroundings } = setUp();
    const ends = [
      new SessionExpiredError('/a'),
      new ClientClosedError(),
      new ThrottledOpError('/a'),
    ];
    for (const end of ends) {
      const failing = retry(
        client,
        exponentialBackoff({ baseMs: 1, maxMs: 1, attemptsMax: 1 }),
        async (attempt) => {
          throw attempt === 0 ? new ConnectionLossError('/a', { ambiguous: true }) : end;
        },
        { idempotent: true },
      );
      const settled = expect(failing).rejects.toMatchObject({ name: end.name, ambiguous: true });
      await surroundings.settle();
      await settled;
    }
  });

  it('ends in the pause by its signal and by the close', async () => {
    const { client, surroundings } = setUp();
    const controller = new AbortController();
    const fail = () => Promise.reject(new ConnectionLossError('/a', { ambiguous: true }));
    const options = { idempotent: true, signal: controller.signal };
    const aborted = retry(client, () => 1_000, fail, options);
    const closed = retry(client, () => 1_000, fail, { idempotent: true });
    const settled = [
      expect(aborted).rejects.toThrow(OperationAbortedError),
      expect(aborted).rejects.toMatchObject({ ambiguous: true, path: '/a' }),
      expect(closed).rejects.toThrow(ClientClosedError),
    ];
    await new Promise(setImmediate);
    controller.abort();
    await client.close();
    await Promise.all(settled);
    expect([surroundings.timerCount, client.listenerCount]).toEqual([0, 0]);
  });
});
