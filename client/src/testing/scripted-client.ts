/**
 * A real client on a scripted network with a fake clock. Only for tests.
 */
import type { ConnectOptions } from '../api/options.js';
import { SessionClient } from '../client/session-client.js';
import { checkedOptions } from '../session/options-check.js';
import { SessionKeeper } from '../session/session-keeper.js';
import { WatchRegistry } from '../watches/watch-registry.js';
import { parseConnectString } from '../wire/connect-string.js';
import { HostList } from '../wire/host-list.js';
import type { Resolve } from '../wire/link.js';
import { FakeSurroundings } from './fake-surroundings.js';
import { type ScriptedLink, ScriptedNetwork, turn } from './scripted-server.js';

export const SESSION_TIMEOUT_MS = 9_000;

export interface ScriptedClientOptions extends ConnectOptions {
  readonly connectString?: string;
  readonly resolve?: Resolve;
}

/** Not connected at first. It tries servers in the given order. */
export class ScriptedClient {
  readonly network = new ScriptedNetwork();
  readonly surroundings = new FakeSurroundings();
  readonly registry = new WatchRegistry();
  readonly keeper: SessionKeeper;
  readonly client: SessionClient;
  /** The states that were reported, in order. */
  readonly states: string[] = [];

  constructor(given: ScriptedClientOptions = {}) {
    const { connectString = 'a,b,c', resolve = async (host) => [host], ...rest } = given;
    const { surroundings, registry } = this;
    const defaults = { sessionTimeoutMs: SESSION_TIMEOUT_MS, shuffle: false };
    const options = checkedOptions({ ...defaults, ...rest, surroundings });
    const { shuffle } = options;
    const random = () => surroundings.random();
    const hosts = new HostList(parseConnectString(connectString).servers, {
      resolve,
      shuffle,
      random,
    });
    const { dial } = this.network;
    this.keeper = new SessionKeeper({
      ...options,
      hosts,
      dial,
      registry,
      isLagProof: false,
      onClosed: () => undefined,
    });
    this.client = new SessionClient({ ...options, keeper: this.keeper, registry, dial });
    this.client.onState(({ state }) => this.states.push(state));
    this.keeper.start();
  }

  /** Waits for the next link that is dialled, opens it and returns it with its handshake. */
  async nextHandshake(): Promise<ScriptedLink> {
    const isNew = () =>
      this.network.links.some((link) => link.handshake === null && !link.isClosed);
    await turn();
    for (let step = 0; step < 1_000 && !isNew(); step++) await this.pass(10, 10);
    const { last } = this.network;
    last.open();
    await turn();
    return last;
  }

  /** Accepts the next link that is dialled, with session `id`. */
  async accept(id = 1, options: { readonly readOnly?: boolean } = {}): Promise<void> {
    const link = await this.nextHandshake();
    link.answerHandshake({ id, timeoutMs: SESSION_TIMEOUT_MS, ...options });
    await turn();
  }

  /** Lets time pass in small steps, so that answers in between are received in time. */
  async pass(ms: number, stepMs = 100): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.surroundings.advance(Math.min(stepMs, left));
      await turn();
    }
  }
}
