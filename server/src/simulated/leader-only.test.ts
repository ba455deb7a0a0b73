/**
 * What only a leader may say or answer, said to and by members that do not lead.
 *
 * In the place of one follower there is a peer that sends what it likes: it takes itself for a
 * leader towards the other follower, and takes that one for a leader.
 */
import { type PeerMessage, RequestBatch } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { Member as ScriptedPeer } from './net/peer-member.js';
import { connected, serving } from './scenario.js';

const PEER_PORT = 2881;
const PASSWORD = new Uint8Array(16);

async function withImpostor() {
  const ensemble = await serving();
  const { leader } = ensemble;
  const [target = 0, id = 0] = [1, 2, 3].filter((each) => each !== leader);
  const client = await connected(ensemble, target);
  ensemble.kill(id);
  const { timers, network } = ensemble;
  const host = `member-${id}`;
  const peers = new Map(
    [leader, target].map((to) => [to, { host: `member-${to}`, port: PEER_PORT }]),
  );
  const impostor = new ScriptedPeer({ id, host, timers, network, options: { peers } });
  await impostor.listen();
  await ensemble.until(() => impostor.links.size === 2, 'was it connected to both');
  const say = async (to: number, message: PeerMessage) => {
    impostor.port.send(to, impostor.linkTo(to), message);
    impostor.port.flush();
    await timers.advance(20);
  };
  const heardFrom = (from: number) => {
    const answers = ['attached', 'detach', 'synced'].map((kind) => `${kind} from ${from}`);
    return impostor.events.filter((event) => answers.includes(event));
  };
  const session = Number(client.connected?.sessionId);
  return { client, leader, target, session, say, heardFrom };
}

/** Messages for a client of the member that sends them; nobody has this session. */
function questions(): readonly PeerMessage[] {
  const body = new Uint8Array(0);
  const at = { session: 12_345, attachment: 1 };
  const request = { ...at, request: 7, opcode: 5, body, identities: [] };
  return [
    { kind: 'attach', ...at, request: 5, password: PASSWORD },
    { kind: 'sync', request: 6 },
    { kind: 'requests', batch: RequestBatch.of([request]) },
  ];
}

describe('what only a leader answers', () => {
  it('is answered by the leader, and by a follower not at all', async () => {
    const { leader, target, say, heardFrom } = await withImpostor();
    for (const question of questions()) {
      await say(target, question);
      await say(leader, question);
    }
    expect(heardFrom(target)).toEqual([]);
    expect(heardFrom(leader).sort()).toEqual(
      [`attached from ${leader}`, `detach from ${leader}`, `synced from ${leader}`].sort(),
    );
  });
});

describe('what only a leader says', () => {
  it('counts for nothing when another member says it', async () => {
    const { client, target, session, say } = await withImpostor();
    await say(target, { kind: 'detach', session, attachment: 0, request: 0 });
    expect(client.closed).toBe(false);
  });
});
