/**
 * What a session sent is found by it behind a sync although it was only proposed when the session
 * came back at another member: what every recipe relies on that looks for its own znode after a
 * lost reply. Were a sync to show no more than what is committed, it would make a second one.
 */
import { connect, Lock } from '@rookery/client';
import { OpCode } from '@rookery/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { ClientProxy, ReplyTrap } from '../harness/client-proxy.js';
import { type Ensemble, useServingEnsemble } from '../harness/ensemble.js';
import { metricsOf } from '../harness/four-letter.js';
import type { Member } from '../harness/member.js';
import { freePorts } from '../harness/ports.js';
import { never, until } from '../harness/wait.js';
import { LONG_SESSIONS, reaching, useDirectClient } from './cuttable-client.js';
import { namesIn } from './directory.js';

const DEADLINE_MS = 30_000;
/**
 * Long enough for leader and members to bear with each other's silence on a loaded machine:
 * ZooKeeper counts it in ticks.
 */
const TICK_TIME_MS = 10_000;
const PEER_TIMEOUT_MS = 20_000;
/** In which a sync that did not wait would be answered. */
const ANSWER_MS = 500;

/** Hears of every request that passes. */
class Listener extends ReplyTrap {
  readonly opcodes: number[] = [];

  override take(opcode: number): ReturnType<ReplyTrap['take']> {
    this.opcodes.push(opcode);
    return super.take(opcode);
  }
}

test('a create that is only proposed is found by its session at the leader', async () => {
  const { ensemble, leader, origin, others } = await useFive();
  const passed = await comeBack({
    ensemble,
    leader,
    origin,
    next: leader,
    unaware: [origin, ...others],
  });
  expect(passed).not.toContain(OpCode.create2);
});

test('a create that is only proposed is found by its session at another follower', async () => {
  const { ensemble, leader, origin, others } = await useFive();
  const [next, ...unaware] = others;
  if (next === undefined) throw new Error('there are five');
  const passed = await comeBack({ ensemble, leader, origin, next, unaware: [origin, ...unaware] });
  expect(passed).not.toContain(OpCode.create2);
});

async function useFive() {
  const ensemble = await useServingEnsemble({
    size: 5,
    proxied: true,
    tickTimeMs: TICK_TIME_MS,
    settings: { ...LONG_SESSIONS, peerTimeoutMs: PEER_TIMEOUT_MS },
  });
  const leader = await ensemble.leader();
  const [origin, ...others] = await ensemble.followers();
  if (origin === undefined) throw new Error('there are five');
  return { ensemble, leader, origin, others };
}

/**
 * Locks at `origin`, whose create is proposed and not committed while `unaware` hear nothing from
 * the leader, and goes on at `next`. Gives the operations asked for there.
 */
async function comeBack(course: {
  readonly ensemble: Ensemble;
  readonly leader: Member;
  readonly origin: Member;
  readonly next: Member;
  readonly unaware: readonly Member[];
}): Promise<readonly number[]> {
  const { ensemble, leader, origin, next, unaware } = course;
  const control = await useDirectClient(ensemble);
  await control.create('/own');
  await control.close();
  const [originPort = 0, nextPort = 0] = await freePorts(2);
  const listener = new Listener();
  const trap = new ReplyTrap();
  const toOrigin = await ClientProxy.listen({ port: originPort, target: origin.clientPort, trap });
  const toNext = await ClientProxy.listen({
    port: nextPort,
    target: next.clientPort,
    trap: listener,
  });
  onTestFinished(() => toNext.close());
  const client = await connect(`127.0.0.1:${originPort}`, {
    sessionTimeoutMs: 60_000,
    reconnectDelayBaseMs: 20,
    reconnectDelayMaxMs: 100,
  });
  onTestFinished(() => client.close());
  await client.sync('/own');

  const proposals = async () =>
    Number((await metricsOf(leader.clientPort)).get('zk_proposal_count'));
  const before = await proposals();
  for (const { id } of unaware) ensemble.network.holdOneWay(leader.id, id);
  const acquired = new Lock(client, '/own').acquire();
  await until('the create is proposed', DEADLINE_MS, async () =>
    (await proposals()) > before ? true : undefined,
  );
  const suspended = reaching(client, 'suspended');
  await toOrigin.close();
  await suspended;
  client.updateServers(`127.0.0.1:${nextPort}`);
  const { opcodes } = listener;
  await until('it asks for a sync', DEADLINE_MS, () => opcodes.includes(OpCode.sync) || undefined);
  await never('a list of the lock before the create is committed', ANSWER_MS, () =>
    opcodes.includes(OpCode.getChildren2) ? 'it was asked for' : undefined,
  );
  for (const { id } of unaware) ensemble.network.passOneWay(leader.id, id);
  const lease = await acquired;
  expect(await namesIn(client, '/own')).toHaveLength(1);
  await lease.release();
  return opcodes;
}
