/**
 * Goal: a client never stays without a session, and nobody waits for ever: once servers answer
 * again, the client is connected and every request has settled; close() ends at any moment.
 *
 * Method: three scripted servers that are up, refuse links, never open them or never answer, links
 * that break and sessions that expire, all at random; then all servers are up. Time is the test's.
 */
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { pick, type Random, randomFrom, seeds } from '../testing/random-faults.js';
import { ScriptedClient, SESSION_TIMEOUT_MS } from '../testing/scripted-client.js';
import { type ScriptedLink, type ScriptedNetwork, turn } from '../testing/scripted-server.js';

const CHAOS_STEPS = 120;
const STEP_MS_MAX = 400;
/** A session to lose, the longest pause between two rounds, and a round. */
const RECOVERY_MS = SESSION_TIMEOUT_MS + 5_000 + 3_000;
const CLOSE_MS = 5_000;
const CALM_STEP_MS = 100;
const MODES = ['up', 'up', 'refusing', 'unreachable', 'silent'] as const;

class Servers {
  readonly #network: ScriptedNetwork;
  readonly #random: Random;
  readonly #modes = new Map<string, (typeof MODES)[number]>();
  readonly #opened = new Set<ScriptedLink>();
  /** How many requests of each link are answered; there is none for a handshake to come. */
  readonly #answered = new Map<ScriptedLink, number>();
  readonly #sessions = new Set<number>();
  #lastSession = 0;

  constructor(network: ScriptedNetwork, random: Random) {
    this.#network = network;
    this.#random = random;
  }

  heal(): void {
    this.#modes.clear();
  }

  strike(): void {
    const random = this.#random;
    const draw = random();
    if (draw < 0.25) {
      this.#modes.set(pick(['a', 'b', 'c'], random) ?? 'a', pick(MODES, random) ?? 'up');
    } else if (draw < 0.35) {
      pick(this.#links, random)?.close(random() < 0.5 ? null : new Error('reset'));
    } else if (draw < 0.38) {
      this.#sessions.clear();
    }
  }

  /** Each server does what it has to do by now. */
  serve(): void {
    for (const link of this.#links) {
      const mode = this.#modes.get(link.address.ip) ?? 'up';
      link.answersPings = mode === 'up';
      if (mode === 'refusing') link.close(new Error('refused'));
      if (mode === 'refusing' || mode === 'unreachable') continue;
      if (!this.#opened.has(link)) {
        this.#opened.add(link);
        link.open();
      }
      if (mode === 'up') this.#answer(link);
    }
  }

  get #links(): ScriptedLink[] {
    return this.#network.links.filter(({ isClosed }) => !isClosed);
  }

  #answer(link: ScriptedLink): void {
    const { handshake } = link;
    if (handshake === null) return;
    if (!this.#answered.has(link)) {
      this.#answered.set(link, 0);
      const wanted = Number(handshake.sessionId);
      if (wanted !== 0 && !this.#sessions.has(wanted)) return link.refuseSession();
      const id = wanted === 0 ? ++this.#lastSession : wanted;
      this.#sessions.add(id);
      link.answerHandshake({ id, timeoutMs: SESSION_TIMEOUT_MS });
    }
    for (const { xid } of link.received.slice(this.#answered.get(link))) {
      link.replyTo(xid, { error: ErrorCode.noNode });
    }
    this.#answered.set(link, link.received.length);
  }
}

async function chaos(seed: number) {
  const random = randomFrom(seed);
  const scripted = new ScriptedClient();
  const servers = new Servers(scripted.network, random);
  const pass = async (ms: number) => {
    servers.serve();
    await scripted.pass(ms);
  };
  const pending = new Set<Promise<void>>();
  const ask = () => {
    const settled = scripted.client.exists('/a', { timeoutMs: 0 }).then(
      () => void pending.delete(settled),
      () => void pending.delete(settled),
    );
    pending.add(settled);
  };
  for (let step = 0; step < CHAOS_STEPS; step++) {
    servers.strike();
    if (random() < 0.2) ask();
    await pass(Math.ceil(random() * STEP_MS_MAX));
  }
  return { scripted, servers, pending, pass };
}

it.for(seeds(10))(
  'is connected soon after the servers are up again, with seed %i',
  async (seed) => {
    const { scripted, servers, pending, pass } = await chaos(seed);
    servers.heal();
    const { client } = scripted;
    const isWell = () => client.state === 'connected' && pending.size === 0;
    for (let ms = 0; ms < RECOVERY_MS && !isWell(); ms += CALM_STEP_MS) await pass(CALM_STEP_MS);
    expect({ state: client.state, pending: pending.size }).toEqual({
      state: 'connected',
      pending: 0,
    });
    await expect(Promise.all([client.close(), pass(CLOSE_MS)])).resolves.toBeDefined();
  },
);

it.for(seeds(10))('closes in bounded time whatever the servers do, with seed %i', async (seed) => {
  const { scripted, pending, pass } = await chaos(seed);
  let isClosed = false;
  void scripted.client.close().then(() => {
    isClosed = true;
  });
  for (let ms = 0; ms < CLOSE_MS; ms += CALM_STEP_MS) await pass(CALM_STEP_MS);
  await turn();
  expect({ isClosed, pending: pending.size }).toEqual({ isClosed: true, pending: 0 });
  expect(scripted.network.liveCount).toBe(0);
  expect(scripted.surroundings.timerCount).toBe(0);
});

it('keeps a session of 6 s through an outage of 3 s', async () => {
  const session = { id: 1, timeoutMs: 6_000 };
  const scripted = new ScriptedClient({ sessionTimeoutMs: session.timeoutMs });
  const { network } = scripted;
  (await scripted.nextHandshake()).answerHandshake(session);
  await turn();
  network.onDial = (link) => link.close(new Error('refused'));
  network.last.close();
  await scripted.pass(3_000, 10);
  network.onDial = (link) => link.accept(session);
  await scripted.pass(2_000, 10);
  expect(scripted.states).toEqual(['connected', 'suspended', 'connected']);
});
