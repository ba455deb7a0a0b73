/**
 * A session that is kept alive as real clients do it: with pings, and a new connection whenever one
 * ends.
 *
 * It moves to the next member on every loss and resumes with the zxid that it has seen. It records
 * each connection that it had, and whether it was ever told that its session had expired; it then
 * stops.
 */
import { deferred, until, within } from './wait.js';
import { SessionExpired, WireClient } from './wire-client.js';

const RETRY_INTERVAL_MS = 20;
const CONNECTED_DEADLINE_MS = 20_000;

export class KeptSession {
  readonly #ports: readonly number[];
  readonly #stopped = deferred<void>();
  #client: WireClient;
  #at: number;
  #stopping = false;
  #expired = false;
  #moves = 0;

  private constructor(client: WireClient, ports: readonly number[], at: number) {
    this.#client = client;
    this.#ports = ports;
    this.#at = at;
    void this.#run();
  }

  /** Opens a session through the first of the ports; it may move to the others. */
  static async open(ports: readonly number[], timeoutMs: number): Promise<KeptSession> {
    const [port] = ports;
    if (port === undefined) throw new Error('no port to connect to');
    return new KeptSession(await WireClient.connect({ port, timeoutMs }), ports, 0);
  }

  get expired(): boolean {
    return this.#expired;
  }

  get id() {
    return this.#client.session.id;
  }

  /** The number of times that it had to connect again. */
  get moves(): number {
    return this.#moves;
  }

  /** The present connection; waits for one if there is none. */
  connected(): Promise<WireClient> {
    return until('the session is connected', CONNECTED_DEADLINE_MS, () => {
      return this.#client.open ? this.#client : undefined;
    });
  }

  /** Stops keeping the session alive and closes it if that is possible. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await within('the end of the session', CONNECTED_DEADLINE_MS, this.#client.close());
    await this.#stopped.promise;
  }

  async #run(): Promise<void> {
    while (!this.#stopping && !this.#expired) {
      await this.#client.closed;
      await this.#reconnect();
    }
    this.#stopped.resolve();
  }

  async #reconnect(): Promise<void> {
    while (!this.#stopping && !this.#expired) {
      this.#at += 1;
      const port = this.#ports[this.#at % this.#ports.length] ?? 0;
      const { session, lastZxid } = this.#client;
      try {
        this.#client = await WireClient.connect({ port, session, lastZxidSeen: lastZxid });
        this.#moves += 1;
        return;
      } catch (error) {
        if (error instanceof SessionExpired) this.#expired = true;
        else await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
      }
    }
  }
}
