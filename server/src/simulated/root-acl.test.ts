/**
 * An ensemble that is founded with `rootAcl`: its root is never open, whoever leads first, and the
 * ACL is given once.
 */
import { AuthPacket, ErrorCode, OpCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { digestOf } from '../config/digest-of.js';
import { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  notes,
  serving,
  write,
} from './scenario.js';

const WARNING =
  'ensemble.root_open: rootAcl has no effect on a tree that exists; set the ACL of / instead';

const OWNER = digestOf('ann:secret');
const settings = { rootAcl: [`digest:${OWNER}:cdrwa`, 'world:anyone:r'] };
const OPEN = ['/', '/zookeeper', '/zookeeper/quota'];

function aclsOf(ensemble: MemoryEnsemble, id: number): readonly string[] {
  const { tree } = ensemble.member(id).state;
  return OPEN.map((path) => {
    const node = tree.find(path);
    const acl = tree.acl(node).map(({ scheme, id: who, perms }) => `${scheme}:${who}:${perms}`);
    return `${acl.join(',')} ${tree.stat(node).aversion}`;
  });
}

const EXPECTED = OPEN.map(() => `digest:${OWNER}:31,world:anyone:1 1`);

async function answerTo(ensemble: MemoryEnsemble, id: number, auth: string | null, path: string) {
  const client = await connected(ensemble, id);
  const packet = { type: 0, scheme: 'digest', auth: Buffer.from(auth ?? '') };
  if (auth !== null) client.send(OpCode.auth, AuthPacket, packet);
  const xid = client.create(path);
  await ensemble.until(() => client.errorOf(xid) !== undefined, `was ${path} answered`);
  return client.errorOf(xid);
}

it('refuses a stranger from the first request on, and keeps its ACL through restarts', async () => {
  const ensemble = await serving({ settings });
  const { leader } = ensemble;
  expect(await answerTo(ensemble, leader, null, '/stranger')).toBe(ErrorCode.noAuth);
  expect(await answerTo(ensemble, follower(ensemble), null, '/zookeeper/quota/x')).toBe(
    ErrorCode.noAuth,
  );
  expect(await answerTo(ensemble, leader, 'ann:secret', '/own')).toBe(ErrorCode.ok);
  await expectEqual(ensemble);
  for (const id of [1, 2, 3]) expect(aclsOf(ensemble, id)).toEqual(EXPECTED);
  for (const id of [1, 2, 3]) await ensemble.stop(id);
  for (const id of [1, 2, 3]) ensemble.settings.set(id, { rootAcl: ['world:anyone:cdrwa'] });
  for (const id of [1, 2, 3]) await ensemble.start(id);
  await everyoneServes(ensemble);
  expect(await answerTo(ensemble, ensemble.leader, 'ann:secret', '/again')).toBe(ErrorCode.ok);
  for (const id of [1, 2, 3]) expect(aclsOf(ensemble, id)).toEqual(EXPECTED);
});

it('is given by the next leader if the first one is lost at any moment of its founding', async () => {
  for (let afterMs = 0; afterMs <= 40; afterMs += 8) {
    const ensemble = await foundedAndLost(afterMs);
    const stranger = await answerTo(ensemble, ensemble.leader, null, '/stranger');
    expect([afterMs, stranger]).toEqual([afterMs, ErrorCode.noAuth]);
    expect([afterMs, aclsOf(ensemble, ensemble.leader)]).toEqual([afterMs, EXPECTED]);
  }
});

/** The first leader ends `afterMs` after it began to lead, and the others go on without it. */
async function foundedAndLost(afterMs: number): Promise<MemoryEnsemble> {
  const ensemble = new MemoryEnsemble({ size: 3, seed: 1 + afterMs, settings });
  await ensemble.start();
  await ensemble.until(() => ensemble.leader > 0, 'was there a leader');
  const first = ensemble.leader;
  await ensemble.timers.advance(afterMs);
  ensemble.kill(first);
  ensemble.found = true;
  await ensemble.until(() => ensemble.leader > 0 && ensemble.leader !== first, 'is there another');
  return ensemble;
}

it('is told to be without effect at each member whose tree was founded open, once', async () => {
  const ensemble = await serving();
  await write(ensemble, await connected(ensemble, ensemble.leader), ['/a']);
  for (const id of [1, 2, 3]) await ensemble.stop(id);
  for (const id of [1, 2, 3]) ensemble.settings.set(id, settings);
  for (const id of [1, 2, 3]) await ensemble.start(id);
  await everyoneServes(ensemble);
  expect(notes(ensemble, WARNING)).toBe(3);
  await ensemble.stop(ensemble.leader);
  await ensemble.until(() => ensemble.leader !== 0, 'is there a leader');
  expect(ensemble.lines.filter((line) => line.includes(WARNING))[0]).toContain('"cdwa"');
  expect(notes(ensemble, WARNING)).toBe(3);
});

it('is told to be without effect neither when it is given nor where it is as open', async () => {
  const founded = await serving({ settings });
  await answerTo(founded, founded.leader, 'ann:secret', '/own');
  for (const id of [1, 2, 3]) await founded.stop(id);
  for (const id of [1, 2, 3]) await founded.start(id);
  await everyoneServes(founded);
  expect(notes(founded, WARNING)).toBe(0);
});
