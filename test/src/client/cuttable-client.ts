/**
 * A client behind proxies, one for each member, so that a test can cut it off from all of them, do
 * things it does not see, and let it come back, within its session or after the end of it.
 *
 * Owns the proxies and the client and ends both with the running test. Waits are for changes of the
 * client's state, with a deadline against hangs only.
 */
import {
  type Client,
  type ClientState,
  type ConnectOptions,
  connect,
  type StateChange,
} from '@rookery/client';
import { toInt64 } from '@rookery/protocol';
import { onTestFinished } from 'vitest';
import type { Ensemble } from '../harness/ensemble.js';
import { freePorts } from '../harness/ports.js';
import { LinkProxy } from '../harness/proxy.js';
import { deferred, until, within } from '../harness/wait.js';
import { WireClient } from '../harness/wire-client.js';

const STATE_DEADLINE_MS = 40_000;
/** Longer than any cut of a test lasts on a loaded machine. */
const SESSION_TIMEOUT_MS = 60_000;

/** What an ensemble needs for sessions this long. */
export const LONG_SESSIONS = { maxSessionTimeoutMs: SESSION_TIMEOUT_MS } as const;

const OPTIONS: ConnectOptions = {
  sessionTimeoutMs: SESSION_TIMEOUT_MS,
  reconnectDelayBaseMs: 20,
  reconnectDelayMaxMs: 100,
};

/** A client that reaches the members directly. */
export async function useDirectClient(
  ensemble: Ensemble,
  options: ConnectOptions & { readonly chroot?: string } = {},
): Promise<Client> {
  const { chroot = '', ...connectOptions } = options;
  const hosts = ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
  const client = await connect(`${hosts}${chroot}`, { ...OPTIONS, ...connectOptions });
  onTestFinished(() => client.close());
  return client;
}

export class CuttableClient {
  readonly client: Client;
  readonly #ensemble: Ensemble;
  readonly #proxies: readonly LinkProxy[];

  private constructor(client: Client, ensemble: Ensemble, proxies: readonly LinkProxy[]) {
    this.client = client;
    this.#ensemble = ensemble;
    this.#proxies = proxies;
  }

  static async use(
    ensemble: Ensemble,
    options: ConnectOptions & { readonly chroot?: string } = {},
  ): Promise<CuttableClient> {
    const { chroot = '', ...connectOptions } = options;
    const ports = await freePorts(ensemble.ports.length);
    const proxies = await Promise.all(
      ensemble.ports.map((target, index) => LinkProxy.listen(ports[index] ?? 0, target)),
    );
    onTestFinished(async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
    });
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const client = await connect(`${hosts}${chroot}`, { ...OPTIONS, ...connectOptions });
    onTestFinished(() => client.close());
    return new CuttableClient(client, ensemble, proxies);
  }

  /**
   * Every connection breaks and none is made; resolves when the client has seen it, at once if it
   * was looking for another member already.
   */
  async cut(): Promise<void> {
    const isConnected = this.client.state === 'connected';
    const suspended = isConnected ? reaching(this.client, 'suspended') : undefined;
    for (const proxy of this.#proxies) {
      proxy.hold('out');
      proxy.hold('back');
      proxy.reset();
    }
    await suspended;
  }

  /** What it sends arrives, but no answer comes until it is healed. */
  holdReplies(): void {
    for (const proxy of this.#proxies) proxy.hold('back');
  }

  /** Resolves when the client is connected again. */
  async heal(): Promise<StateChange> {
    const connected = reaching(this.client, 'connected');
    for (const proxy of this.#proxies) {
      proxy.pass('out');
      proxy.pass('back');
    }
    return await connected;
  }

  /** While cut: ends the session behind the client's back. */
  async expireSession(): Promise<void> {
    const { session, lastZxidSeen } = this.client;
    if (session === null) throw new Error('there is no session to end');
    const { id, password, timeoutMs } = session;
    const resumed = { id: toInt64(id), password, timeoutMs };
    const { ports } = this.#ensemble;
    // A member that is behind what the client has seen closes the connection.
    let attempt = 0;
    const other = await until('a member takes the session', STATE_DEADLINE_MS, () => {
      const port = ports[attempt++ % ports.length] ?? 0;
      const options = { port, session: resumed, lastZxidSeen: toInt64(lastZxidSeen) };
      return WireClient.connect(options);
    });
    await other.close();
  }
}

/** The next change to this state. */
export function reaching(client: Client, state: ClientState): Promise<StateChange> {
  const reached = deferred<StateChange>();
  const stop = client.onState((change) => {
    if (change.state !== state) return;
    stop();
    reached.resolve(change);
  });
  return within(`the client is ${state}`, STATE_DEADLINE_MS, reached.promise);
}

/** Resolves when the session of a client that is cut off is gone, at once if it is. */
export async function losingSession(client: Client): Promise<void> {
  if (client.state === 'connected' || client.state === 'suspended') await reaching(client, 'lost');
}
