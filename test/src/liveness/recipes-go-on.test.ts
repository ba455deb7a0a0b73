/**
 * Goal: no recipe stands still for ever. Whatever happened to the connections and the sessions
 * below it, each of its events comes about or fails once all is well again.
 *
 * Method: each recipe repeats its event (recipe-events.ts) with two clients of a server in memory,
 * on a clock that the test moves, while requests, replies, connections and sessions are lost at
 * random. Then the faults end, and the event must come several times within a bounded time. An
 * event that fails begins anew with other clients; one that never settles has no deadline that
 * would hide it. ROOKERY_RECIPE_SEEDS sets the number of runs of each recipe.
 */
import { FakeClient, FakeServer, FakeSurroundings, type Fault } from '@rookery/client/testing';
import { describe, it } from 'vitest';
import { EVENTS } from '../client/recipe-events.js';
import { Random } from '../harness/random.js';
import { testSeed } from '../harness/test-seed.js';

const RUNS = Number(process.env['ROOKERY_RECIPE_SEEDS'] ?? 1);
const FAULTY_STEPS = 300;
/** How many of 1,000 steps have a fault, and how many let time pass. */
const FAULTS_PER_THOUSAND = 60;
const ADVANCES_PER_THOUSAND = 300;
const STEP_MS = 20;
/** Long enough for sessions to end and for every pause between attempts. */
const CALM_STEPS_MAX = 5_000;
const CALM_EVENTS = 3;
const OUTAGE_MS_MAX = 400;
const EXPIRY_MS_MAX = 3_000;
const TAIL = 12;

const OPERATIONS = [
  ...['create', 'delete', 'exists', 'getChildren', 'getData', 'setData', 'sync', 'multi'],
  ...['addWatch', 'removeWatches'],
];
const FAULTS: readonly Fault[] = ['request-lost', 'reply-lost'];

/** A recipe at work on a server in memory, until it is closed. */
class Life {
  readonly surroundings = new FakeSurroundings();
  readonly #server = new FakeServer();
  readonly #name: string;
  readonly #random: Random;
  #clients: FakeClient[] = [];
  #isClosed = false;
  #events = 0;
  #begun = 0;
  #ending: unknown = null;
  #mistake: unknown = null;

  constructor(name: string, seed: number) {
    this.#name = name;
    this.#random = new Random(seed);
  }

  get events(): number {
    return this.#events;
  }

  /** What it was doing, for the message of a failure. */
  get facts(): string {
    const clients = this.#clients.map((client) => {
      const last = client.sent.slice(-TAIL).map(({ op, path }) => `${op} ${path}`);
      return `\n  ${client.state}: ${last.join(', ')}`;
    });
    const ending = this.#ending === null ? '' : `, after ${this.#ending}`;
    return `${this.#events} events, beginning ${this.#begun}${ending}${clients.join('')}`;
  }

  /** An error of an event that no fault explains. */
  get mistake(): unknown {
    return this.#mistake;
  }

  async run(): Promise<void> {
    while (!this.#isClosed) {
      this.#begun++;
      try {
        await this.#beginAnew();
      } catch (error) {
        this.#ending = error;
        if (isOfLibrary(error)) continue;
        this.#mistake = error;
        return;
      }
    }
  }

  async #beginAnew(): Promise<void> {
    const options = { surroundings: this.surroundings };
    const client = new FakeClient(this.#server, options);
    const other = new FakeClient(this.#server, options);
    this.#clients = [client, other];
    try {
      const event = await EVENTS[this.#name]?.(client, `/life/${this.#begun}`, other);
      while (!this.#isClosed && event !== undefined) {
        await event();
        this.#events++;
        // For events that come about without a message.
        await new Promise(setImmediate);
      }
    } finally {
      await Promise.all([client.close(), other.close()]);
    }
  }

  strike(): void {
    const random = this.#random;
    const client = random.pick(this.#clients);
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2:
        return client.failNext(random.pick(OPERATIONS), random.pick(FAULTS));
      case 3:
        return client.loseConnection();
      case 4:
        return this.#cutOff(client);
      case 5:
        // The server has ended the session behind the client's back.
        if (client.session !== null) this.#server.endSession(client.session.id);
        return this.#cutOff(client);
      case 6:
        return client.expire();
      default:
        return this.#loseSession(client);
    }
  }

  /** True with the given probability. */
  happens(perThousand: number): boolean {
    return this.#random.below(1_000) < perThousand;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  #cutOff(client: FakeClient): void {
    client.comesBack = false;
    client.loseConnection();
    this.surroundings.setTimer(this.#random.below(OUTAGE_MS_MAX), () => {
      client.comesBack = true;
      client.comeBack();
    });
  }

  /** The client gives the session up some time before the server does. */
  #loseSession(client: FakeClient): void {
    const { session } = client;
    client.loseSession();
    if (session === null) return;
    this.surroundings.setTimer(this.#random.below(EXPIRY_MS_MAX), () => {
      this.#server.endSession(session.id);
    });
  }
}

/** Each error of the library says whether it is worth another try. */
function isOfLibrary(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error;
}

async function live(name: string, seed: number): Promise<void> {
  const life = new Life(name, seed);
  const { surroundings } = life;
  const where = `${name} with seed ${seed}`;
  void life.run();
  for (let step = 0; step < FAULTY_STEPS && life.mistake === null; step++) {
    if (life.happens(FAULTS_PER_THOUSAND)) life.strike();
    if (life.happens(ADVANCES_PER_THOUSAND)) surroundings.advance(STEP_MS);
    await new Promise(setImmediate);
  }
  const goal = life.events + CALM_EVENTS;
  for (let step = 0; life.events < goal && life.mistake === null; step++) {
    if (step === CALM_STEPS_MAX) throw new Error(`${where} stands still: ${life.facts}`);
    surroundings.advance(STEP_MS);
    await new Promise(setImmediate);
  }
  if (life.mistake !== null) throw new Error(`${where}: ${life.facts}`, { cause: life.mistake });
  await life.close();
}

describe('once the faults are over, the events go on', () => {
  it.for(Object.keys(EVENTS))('of %s', async (name) => {
    const first = testSeed();
    for (let run = 0; run < RUNS; run++) await live(name, first + run);
  });
});
