/**
 * Deletions that must happen whatever becomes of the connection, in the background: one worker for
 * a client, one queue, back-off while the server is in trouble.
 *
 * A deletion for a session ends with it, for the ephemeral znode it is about then goes by itself;
 * any other goes on in the next session, and ends when the client closes. Nothing here keeps the
 * process alive after the close: timers are cancelled. A path is deleted whatever incarnation
 * stands there: only names that do not come back belong here. Those of a session have no bound of
 * their own: each stands for a znode that the session has made, and one that was turned away would
 * be a lock that nobody can take. Called by `client.deleteGuaranteed`.
 */
import { KeeperError, NoNodeError, NotReadOnlyError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { ClientState } from '../api/values.js';
import { ClientClosedError, ClientError, TooManyOutstandingError } from '../errors.js';
import { retryForever } from './retry-policy.js';

/** Deletions waiting that end with no session; what hits it has a leak of its own. */
const DELETIONS_MAX = 10_000;
/** Asked at the same time, pipelined. */
const BATCH_MAX = 64;
const BACKOFF = retryForever({ baseMs: 50, maxMs: 5_000 });

type DeletingClient = Pick<Client, 'delete' | 'onState' | 'session' | 'state' | 'surroundings'>;

interface Deletion {
  readonly path: string;
  readonly session: bigint | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class GuaranteedDeletions {
  readonly #client: DeletingClient;
  readonly #deletionsMax: number;
  /** In the order of the calls; what is under way is still in it. */
  readonly #waiting = new Set<Deletion>();
  #isRunning = false;
  /** Ends the pause between two attempts; null while there is none. */
  #wake: (() => void) | null = null;

  constructor(client: DeletingClient, options: { readonly deletionsMax?: number } = {}) {
    this.#client = client;
    this.#deletionsMax = options.deletionsMax ?? DELETIONS_MAX;
  }

  /** Deletions that are not done yet. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves when no znode is there, or the session given is over. Rejects when the server refuses
   * (NoAuthError, NotEmptyError...), with ClientClosedError, and with TooManyOutstandingError when
   * too many wait that are for no session. A rejection that nobody awaits is not reported as
   * unhandled.
   */
  add(path: string, options: { readonly session?: bigint } = {}): Promise<void> {
    const added = new Promise<void>((resolve, reject) => {
      if (this.#client.state === 'closed') {
        reject(new ClientClosedError());
        return;
      }
      const { session } = options;
      if (session === undefined && this.#waiting.size >= this.#deletionsMax) {
        reject(new TooManyOutstandingError(this.#deletionsMax));
        return;
      }
      this.#waiting.add({ path, session, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
    added.catch(() => {
      // For those who do not look: the background is where it was sent.
    });
    return added;
  }

  /**
   * The first attempt is made in the turn of the call, before anything the caller sends next. When
   * nothing is left it says so in the same turn, with no await in between: what is added after that
   * begins a run of its own, and would otherwise be sent by nobody. Its listener stands only while
   * there is work, so that an idle client has none.
   */
  async #run(): Promise<void> {
    this.#isRunning = true;
    const stopListening = this.#client.onState(({ state }) => this.#onState(state));
    const startMs = this.#client.surroundings.nowMs();
    try {
      for (let failures = 0; this.#waiting.size > 0; ) {
        const batch = firstOf(this.#waiting, BATCH_MAX);
        await Promise.all(batch.map((deletion) => this.#attempt(deletion)));
        const isStuck = batch.every((deletion) => this.#waiting.has(deletion));
        failures = isStuck ? failures + 1 : 0;
        if (isStuck) await this.#pause(failures - 1, startMs);
      }
    } catch (error) {
      for (const deletion of this.#waiting) this.#end(deletion, error);
    } finally {
      this.#isRunning = false;
      stopListening();
    }
  }

  async #attempt(deletion: Deletion): Promise<void> {
    const { path, session } = deletion;
    if (this.#client.state === 'closed') {
      this.#endByClose(deletion);
      return;
    }
    try {
      await this.#client.delete(path, session === undefined ? {} : { session });
      this.#end(deletion);
    } catch (error) {
      this.#onFailure(deletion, error);
    }
  }

  /** Trouble that passes leaves it waiting. */
  #onFailure(deletion: Deletion, error: unknown): void {
    if (error instanceof NoNodeError) {
      this.#end(deletion);
    } else if (error instanceof ClientClosedError) {
      this.#endByClose(deletion);
    } else if (error instanceof SessionExpiredError) {
      if (deletion.session !== undefined) this.#end(deletion);
    } else if (!isRetryable(error)) {
      this.#end(deletion, error);
    }
  }

  /** The close ends the session, and with it what was to be deleted for it. */
  #endByClose(deletion: Deletion): void {
    this.#end(deletion, deletion.session === undefined ? new ClientClosedError() : null);
  }

  #end(deletion: Deletion, error: unknown = null): void {
    this.#waiting.delete(deletion);
    if (error === null) deletion.resolve();
    else deletion.reject(error);
  }

  #pause(attempt: number, startMs: number): Promise<void> {
    const { surroundings, state } = this.#client;
    if (state === 'closed') return Promise.resolve();
    const elapsedMs = surroundings.nowMs() - startMs;
    const delayMs = BACKOFF(attempt, elapsedMs, () => surroundings.random());
    return new Promise((resolve) => {
      const cancel = surroundings.setTimer(delayMs, () => this.#wake?.());
      this.#wake = () => {
        this.#wake = null;
        cancel();
        resolve();
      };
    });
  }

  /** With a connection it is worth another try at once; after the close nothing is. */
  #onState(state: ClientState): void {
    if (state === 'connected' || state === 'closed') this.#wake?.();
  }
}

function firstOf<T>(items: Iterable<T>, countMax: number): T[] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length === countMax) break;
    first.push(item);
  }
  return first;
}

/** A read-only server takes writes again once there is a quorum. */
function isRetryable(error: unknown): boolean {
  if (error instanceof NotReadOnlyError) return true;
  return (error instanceof KeeperError || error instanceof ClientError) && error.retryable;
}
