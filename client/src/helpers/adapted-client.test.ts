/**
 * Goal: client.with() changes what it was told to change and nothing else: ACLs of what is created,
 * retries of what may be repeated, values by a codec; also through namespaces, and for recipes.
 */
import { Perms } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { InvalidDataError, OptionError } from '../api/errors.js';
import { exponentialBackoff } from '../api/retry-policy.js';
import { Lock } from '../recipes/lock.js';
import { newWorld } from '../testing/lock-world.js';
import { json } from './codecs.js';

const ACL = [{ perms: Perms.all, scheme: 'digest', id: 'a:b' }];
const retry = exponentialBackoff({ baseMs: 10, maxMs: 10, attemptsMax: 3 });

it('creates with the ACL of the view, in transactions and namespaces too, unless told another', async () => {
  const { one } = newWorld();
  const view = one.with({ acl: ACL });
  const aclOf = async (path: string) => (await one.getAcl(path)).acl;
  await view.create('/a');
  await view.namespace('/a').create('/b');
  await one.namespace('/a').with({ acl: ACL }).create('/c');
  await view
    .transaction()
    .create('/a/d')
    .create('/a/e', null, { acl: [] })
    .commit()
    .catch(() => {});
  await view.create('/open', null, { acl: [{ perms: Perms.all, scheme: 'world', id: 'anyone' }] });
  for (const path of ['/a', '/a/b', '/a/c']) expect(await aclOf(path)).toEqual(ACL);
  expect((await aclOf('/open'))[0]?.scheme).toBe('world');
  await one.create('/plain');
  expect((await aclOf('/plain'))[0]?.scheme).toBe('world');
});

it('keeps its ACL where an option or an operation names one that is undefined', async () => {
  const { one } = newWorld();
  const view = one.with({ acl: ACL }).with({ acl: undefined, retry });
  await view.create('/a', null, { acl: undefined });
  await view.multi([{ kind: 'create', path: '/b', acl: undefined }]);
  await view.transaction().create('/c', null, { acl: undefined }).commit();
  for (const path of ['/a', '/b', '/c']) expect((await one.getAcl(path)).acl).toEqual(ACL);
});

it('tries again what was lost on its way, and not what may have been done', async () => {
  const { one, surroundings } = newWorld();
  const view = one.with({ retry });
  await view.create('/a');
  one.failNext('exists', 'reply-lost', 2);
  const found = view.exists('/');
  await surroundings.settle();
  expect(await found).not.toBeNull();
  one.failNext('setData', 'reply-lost');
  const set = view.setData('/a', 'x').catch((error: unknown) => error);
  await surroundings.settle();
  expect(await set).toMatchObject({ name: 'ConnectionLossError', ambiguous: true });
  expect(one.sentCount('setData')).toBe(1);
});

it('gives up when the policy does, and does not cross into the next session', async () => {
  const { one, surroundings } = newWorld();
  const view = one.with({ retry });
  one.failNext('getData', 'reply-lost', 9);
  const read = view.getData('/').catch((error: unknown) => error);
  await surroundings.settle();
  expect(await read).toMatchObject({ name: 'ConnectionLossError' });
  expect(one.sentCount('getData')).toBe(4);
});

it('sends the first tries in the order of the calls', async () => {
  const { one, surroundings } = newWorld();
  const view = one.with({ retry });
  const all = [view.create('/a'), one.create('/b'), view.create('/c')];
  await surroundings.settle();
  await Promise.all(all);
  expect(one.sent.map(({ path }) => path)).toEqual(['/a', '/b', '/c']);
});

it('is a client that recipes stand on', async () => {
  const { one, surroundings } = newWorld();
  const view = one.namespace('/app').with({ acl: ACL, retry });
  const lock = new Lock(view, '/lock').acquire();
  await surroundings.settle();
  const lease = await lock;
  expect(lease.held).toBe(true);
  const fencing = view.fenced(lease, [{ kind: 'create', path: '/done' }]);
  await surroundings.settle();
  await fencing;
  expect((await one.getAcl('/app/done')).acl).toEqual(ACL);
});

it('reads and writes values by a codec, and refuses others unwritten', async () => {
  const { one } = newWorld();
  const typed = one
    .namespace('/app')
    .with({ codec: json(z.object({ size: z.number() })), acl: ACL });
  await one.create('/app');
  await typed.create('/a', { size: 1 });
  expect((await one.getAcl('/app/a')).acl).toEqual(ACL);
  const { value, stat } = await typed.getData('/a');
  expect(value.size + stat.version).toBe(1);
  await typed.setData('/a', { size: 2 }, { version: 0 });
  await expect(typed.setData('/a', { size: 'x' as never })).rejects.toThrow(InvalidDataError);
  await one.setData('/app/a', 'broken');
  await expect(typed.getData('/a')).rejects.toMatchObject({ path: '/a', direction: 'read' });
  expect(one.sentCount('setData')).toBe(2);
});

it('updates from the value that it has read, and asks again when another was faster', async () => {
  const { one, server } = newWorld();
  const typed = one.with({ codec: json(z.number()) });
  const asked: (number | undefined)[] = [];
  const update = () =>
    typed.update('/n', (present) => {
      asked.push(present);
      return (present ?? 0) + 1;
    });
  expect(await update()).toBe(1);
  let others = 2;
  one.onSend = ({ op }) => {
    if (op !== 'setData' || others === 0) return;
    others -= 1;
    server.setData('/n', '7');
  };
  expect(await update()).toBe(8);
  expect(asked).toEqual([undefined, 1, 7, 7]);
});

it('refuses what it does not know', () => {
  const { one } = newWorld();
  expect(() => one.with({ retries: 3 } as never)).toThrow(OptionError);
  expect(() => one.namespace('/a').with({ acls: [] } as never)).toThrow(OptionError);
});
