/**
 * Deletions in the background that must succeed whatever happens to the connection. Each client has
 * one worker and one queue, and backs off while the server has problems.
 *
 * A deletion that is bound to a session ends with it, because its ephemeral znode is then deleted
 * by the server. Other deletions continue in the next session, and end when the client closes.
 * After the close no timer keeps the process alive. A path is deleted whatever incarnation of the
 * znode is there, so only names that are never reused are allowed. The number of deletions bound to
 * a session is not limited: each is for a znode that the session created, and refusing one would
 * leave a lock that nobody can acquire. Called by `client.deleteGuaranteed`.
 */
import { KeeperError, NoNodeError, NotReadOnlyError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { ClientClosedError, ClientError, TooManyOutstandingError } from '../api/errors.js';
import { retryForever } from '../api/retry-policy.js';
import type { ClientState } from '../api/values.js';

/**
 * The limit for waiting deletions that are bound to no session. Only a leak in the caller reaches
 * it.
 */
const DELETIONS_MAX = 10_000;
/** How many deletions are sent at the same time. */
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
  /** In the order of the calls, including those that are in flight. */
  readonly #waiting = new Set<Deletion>();
  #isRunning = false;
  /** Ends the pause between two attempts; null outside a pause. */
  #wake: (() => void) | null = null;

  constructor(client: DeletingClient, options: { readonly deletionsMax?: number } = {}) {
    this.#client = client;
    this.#deletionsMax = options.deletionsMax ?? DELETIONS_MAX;
  }

  /** The number of deletions that are not done yet. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves when the znode does not exist, or the given session is over. Rejects if the server
   * refuses (NoAuthError, NotEmptyError...), with ClientClosedError, and with
   * TooManyOutstandingError if too many deletions without a session are waiting. A rejection that
   * nobody handles is not reported as unhandled.
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
      // Callers that do not await the result started the deletion to have it done in the
      // background.
    });
    return added;
  }

  /**
   * The first attempt is made synchronously, before any later request of the caller. When no
   * deletion is left, the worker is marked as idle synchronously, without an await in between,
   * because a deletion that is added later starts a new run and would otherwise never be sent. The
   * listener is registered only while there is work, so an idle client has none.
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

  /** After a transient error the deletion stays in the queue. */
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

  /** Closing the client ends the session, and with it the znodes of its deletions. */
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

  /** A new connection makes another attempt worthwhile at once; after the close no attempt is. */
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

/** A read-only member accepts writes again once it has a quorum. */
function isRetryable(error: unknown): boolean {
  if (error instanceof NotReadOnlyError) return true;
  return (error instanceof KeeperError || error instanceof ClientError) && error.retryable;
}
