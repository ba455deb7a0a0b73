/**
 * Whoever gives up waiting for a write that was sent is told that it may have been done: an error
 * without `ambiguous` is a promise that it was not.
 */
import { describe, expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import { OperationAbortedError } from '../api/errors.js';
import type { FakeClient } from '../testing/fake-client.js';
import { newWorld } from '../testing/lock-world.js';
import { AtomicLong } from './atomic-long.js';
import { GroupMember } from './group-membership.js';
import { NameService } from './name-service.js';
import { PersistentNode } from './persistent-node.js';
import { SharedValue } from './shared-value.js';
import { TransactionSite } from './transaction-site.js';
import { TwoPhaseCommit } from './two-phase-commit.js';

interface Given {
  readonly signal: AbortSignal;
}

const WRITES: Readonly<
  Record<string, readonly [string, (client: Client, given: Given) => unknown]>
> = {
  'SharedValue.set': [
    'setData',
    (client, given) => new SharedValue(client, '/v', 'x').set('y', given),
  ],
  'AtomicLong.set': ['setData', (client, given) => new AtomicLong(client, '/v').set(3n, given)],
  'NameService.register': [
    'setData',
    (client, given) => new NameService(client, '/').register('v', 'y', given),
  ],
  'NameService.unregister': [
    'delete',
    (client, given) => new NameService(client, '/').unregister('v', given),
  ],
  'PersistentNode.setData': [
    'setData',
    (client, given) => new PersistentNode(client, '/v', { mode: 'persistent' }).setData('y', given),
  ],
  'GroupMember.setData': [
    'create',
    (client, given) => new GroupMember(client, '/', 'me').setData('y', given),
  ],
  'TransactionSite.join': [
    'create',
    (client, given) => new TransactionSite(client, '/tx', 'a').join(given),
  ],
  'TransactionSite.finish': [
    'delete',
    (client, given) => new TransactionSite(client, '/done', 'a').finish(given),
  ],
  'TwoPhaseCommit.finish': [
    'delete',
    async (client, given) => {
      const finished = await TwoPhaseCommit.resume(client, '/empty', given);
      await finished.finish(given);
    },
  ],
};

async function setUp(): Promise<FakeClient> {
  const { server, one, other } = newWorld();
  server.create({ path: '/v', data: 'old', mode: 'persistent', acl: undefined, session: 0n });
  await TwoPhaseCommit.begin(other, '/tx', ['a'], { kind: 'ephemeral' });
  for (const path of ['/done', '/empty']) {
    const begun = await TwoPhaseCommit.begin(other, path, ['a']);
    await begun.abort();
  }
  server.delete('/empty/a');
  return one;
}

/** What is set there later all the same. */
const GOES_ON = ['PersistentNode.setData', 'GroupMember.setData'];

describe.each(Object.entries(WRITES))('%s', (name, [op, write]) => {
  it('says that it may have been done', async () => {
    const one = await setUp();
    const stop = new AbortController();
    one.onSend = (sent) => {
      if (sent.op === op) queueMicrotask(() => stop.abort());
    };
    const failure = (async () => write(one, { signal: stop.signal }))();
    await expect(failure).rejects.toThrow(OperationAbortedError);
    await expect(failure).rejects.toMatchObject({ ambiguous: true });
  });

  it.skipIf(GOES_ON.includes(name))('says that it was not done, if it was not sent', async () => {
    const one = await setUp();
    one.comesBack = false;
    one.loseConnection();
    const stop = new AbortController();
    const failure = (async () => write(one, { signal: stop.signal }))();
    failure.catch(() => {});
    stop.abort();
    await expect(failure).rejects.toMatchObject({ ambiguous: false });
  });
});
