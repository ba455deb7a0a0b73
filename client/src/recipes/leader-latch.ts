/**
 * LeaderLatch: one of many leads, until it is closed or loses its session; then the next in line.
 *
 * **Guarantee.** At most one participant has a term with an unaborted signal at a time, as long as
 * clocks run at nearly the same rate; `fencingToken` grows strictly from term to term. A term
 * begins only when the server has shown the participant's own znode, of this very session, to be
 * the first in line and still there; it ends before anybody else's can begin.
 *
 * **Znodes.** Curator's LeaderLatch: `<path>` (a container), `_c_<uuid>-latch-<number>` for each
 * participant, ephemeral, data its id. The lowest leads; each other watches the one before it.
 *
 * **Suspended.** The term stands ('hold-until-lost'), or ends at once, and the participant goes to
 * the end of the line ('abort'). **Lost.** The term ends; in the client's next session the latch
 * takes a new place by itself.
 *
 * One task does all of it, in order: take a place, wait, lead, lose, again. Connection events and
 * watches end what it waits for and do nothing beside it, so no two of them can race.
 */
import { onAbort } from '../abort-followers.js';
import type { Client } from '../api/client.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, OperationOptions } from '../api/values.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { untilAborted } from './shared/changes.js';
import { contestantsIn } from './shared/contestants.js';
import { CuratorName, curatorPrefix } from './shared/curator.js';
import type { LeaseHolder } from './shared/lease-holder.js';
import { Runner } from './shared/runner.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { acquiring, type Line, leaseInLine, nextBefore } from './shared/waiting-line.js';

export interface LeaderLatchOptions {
  /** Tells this participant to the others; empty by default. */
  readonly id?: string | undefined;
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export interface Participant {
  readonly id: string;
  readonly path: string;
  /** Whether it is the first in line: it leads, or is about to. */
  readonly isLeader: boolean;
}

/** With a term when one begins, with null when it is over; exceptions are reported as uncaught. */
export type LeadershipListener = (term: Lease | null) => void;

export interface LatchCloseOptions {
  /** Whether listeners are told that the term is over by the close; 'silent' by default. */
  readonly mode?: 'silent' | 'notify';
}

export class LeaderLatch extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly id: string;
  readonly #client: Client;
  readonly #line: Line;
  readonly #onSuspended: SuspendedPolicy | undefined;
  readonly #runner: Runner;
  readonly #listeners = new Set<LeadershipListener>();
  #closed: Promise<void> | null = null;
  #term: LeaseHolder | null = null;

  constructor(client: Client, path: string, options: LeaderLatchOptions = {}) {
    const { id = '', acl, onSuspended } = options;
    super();
    this.path = path;
    this.id = id;
    this.#client = client;
    this.#onSuspended = onSuspended;
    this.#line = {
      directory: path,
      markers: [CuratorName.latch],
      prefix: (uuid) => curatorPrefix(uuid, CuratorName.latch),
      data: id,
      acl,
      blocker: nextBefore,
    };
    const task = (signal: AbortSignal) => this.#takePart(signal);
    this.#runner = new Runner({ client, recipe: 'LeaderLatch', path, task });
  }

  /** Takes part from now on, in the background; idempotent. */
  start(): void {
    this.#runner.start();
  }

  /** The term while it lasts, null otherwise. */
  get term(): Lease | null {
    return this.#term?.held === true ? this.#term : null;
  }

  get hasLeadership(): boolean {
    return this.term !== null;
  }

  /**
   * Starts if need be and waits for a term. WaitTimeoutError and OperationAbortedError end only the
   * wait: the latch still takes part. Otherwise the error that has ended it: RecipeStateError after
   * close(), ClientClosedError, or the server's answer, such as NoAuthError.
   */
  async waitForLeadership(options: WaitOptions = {}): Promise<Lease> {
    this.start();
    return await this.#runner.until(options, () => this.term);
  }

  /**
   * Takes part for as long as the loop lasts: gives each term when it begins, and the next after it
   * is lost, however early the loop's body is done. When the signal is aborted the latch is closed
   * at once, also while the body runs: a term that lasts is given up, and its own signal tells the
   * body. The same when the loop is left. Ends with close() as well.
   */
  async *leadership(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Lease, void> {
    const { signal } = options;
    const isAborted = () => signal?.aborted === true;
    // The close that ends the loop reports it, should the server refuse the deletion.
    const onEnd = () => void this.close().catch(() => {});
    const unfollow = signal === undefined ? () => {} : onAbort(signal, onEnd);
    // Who loops is thrown the failure.
    const listening = this.onFailure(() => {});
    try {
      while (!isAborted()) {
        const term = await this.waitForLeadership(options);
        if (isAborted()) return;
        yield term;
        await untilAborted(term.signal, ...(signal === undefined ? [] : [signal]));
      }
    } catch (error) {
      if (!isAborted() && !this.#runner.hasEndedWell) throw error;
    } finally {
      listening();
      unfollow();
      await this.close();
    }
  }

  /** Gives what undoes it. */
  onChange(listener: LeadershipListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** In line, as of one reading. */
  async participants(options: OperationOptions = {}): Promise<Participant[]> {
    const { directory, markers } = this.#line;
    const contestants = await contestantsIn(this.#client, directory, markers, options);
    return contestants.map(({ path, data }, index) => {
      return { path, id: data?.toString() ?? '', isLeader: index === 0 };
    });
  }

  /** The first in line, or null when nobody takes part. */
  async leader(options: OperationOptions = {}): Promise<Participant | null> {
    const [first] = await this.participants(options);
    return first ?? null;
  }

  /**
   * Takes no part any more: ends the term and deletes the znode, in the background while there is
   * no connection. Idempotent.
   */
  close({ mode = 'silent' }: LatchCloseOptions = {}): Promise<void> {
    if (mode === 'silent') this.#listeners.clear();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#runner;
  }

  async #close(): Promise<void> {
    const stopped = this.#runner.stop();
    const released = this.#term?.release();
    await stopped;
    await released;
  }

  async #takePart(signal: AbortSignal): Promise<void> {
    const wait = { signal, onSessionLost: 'rejoin' } as const;
    const terms = { onSuspended: this.#onSuspended };
    while (!signal.aborted) {
      const term = await acquiring(this.#client, this.path, wait, (within) =>
        leaseInLine(this.#client, this.#line, within, terms),
      );
      await this.#lead(term);
    }
  }

  async #lead(term: LeaseHolder): Promise<void> {
    if (this.#runner.isStopped) {
      await term.release();
      return;
    }
    this.#term = term;
    const ended = untilAborted(term.signal);
    const onEnd = () => {
      this.#term = null;
      this.#tell(null);
    };
    if (term.held) {
      this.#tell(term);
      // A listener may have closed the latch.
      if (term.held) term.signal.addEventListener('abort', onEnd, { once: true });
      else onEnd();
    }
    await ended;
    // A place that was given up is gone, if the server can be reached, before a new one is taken.
    await term.release();
  }

  #tell(term: Lease | null): void {
    this.#runner.changes.notify();
    for (const listener of [...this.#listeners]) {
      try {
        listener(term);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
