/**
 * Whether the servers of a client's session offer one of Rookery's own operations.
 *
 * It is asked for each session once, however many callers wait for the answer, and never on the
 * session's own connection (operation-probe.ts). A caller may leave; the question goes on for the
 * others. Called by the client and by the lister of children.
 */
import { OperationTimeoutError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import type { OperationOptions } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import type { ProbeAnswer } from './operation-probe.js';
import { operationOptions } from './options.js';

/** One that is not answered may be answered the next time. */
const PROBES_MAX = 3;

interface Known {
  readonly session: bigint;
  readonly offered: boolean;
}

export class Offer {
  readonly #client: AskingClient;
  readonly #probe: () => Promise<ProbeAnswer>;
  #known: Known | null = null;
  #asking: { readonly session: bigint; readonly answer: Promise<boolean> } | null = null;

  /** The probe asks the member that the client is connected to. */
  constructor(client: AskingClient, probe: () => Promise<ProbeAnswer>) {
    this.#client = client;
    this.#probe = probe;
  }

  /** What is known of the present session; null if it was not asked yet, or did not answer. */
  get known(): Known | null {
    return this.#known?.session === this.#client.session?.id ? this.#known : null;
  }

  /**
   * Resolves with whether it is offered, so false if nobody can tell. Rejects like `connected()`.
   */
  async ask(operation: OperationOptions = {}): Promise<boolean> {
    const given = operationOptions(operation);
    const { id: session } = await this.#client.connected(given);
    const { known } = this;
    if (known !== null) return known.offered;
    if (this.#asking?.session !== session) {
      const asking = { session, answer: this.#determine(session) };
      this.#asking = asking;
      const forget = () => {
        if (this.#asking === asking) this.#asking = null;
      };
      asking.answer.then(forget, forget);
    }
    return await this.#within(this.#asking.answer, given);
  }

  /** The server of this session has refused the operation itself. */
  refused(session: bigint): void {
    this.#known = { session, offered: false };
  }

  async #determine(session: bigint): Promise<boolean> {
    let answer: ProbeAnswer = 'unknown';
    let isAlwaysClosed = true;
    for (let attempt = 0; attempt < PROBES_MAX; attempt++) {
      await this.#client.connected();
      if (this.#client.session?.id !== session) return false;
      answer = await this.#probe();
      if (answer === 'offered' || answer === 'refused') break;
      if (answer !== 'closed') isAlwaysClosed = false;
    }
    const offered = answer === 'offered';
    // A member that stops closes it, too, but not again and again.
    const isKnown = offered || answer === 'refused' || isAlwaysClosed;
    if (isKnown) this.#known = { session, offered };
    return offered;
  }

  /** What a caller waits for is bounded by its own options, and by the client's end. */
  #within<T>(answer: Promise<T>, { signal, timeoutMs = 0 }: OperationOptions): Promise<T> {
    const { surroundings } = this.#client;
    return new Promise((resolve, reject) => {
      const undo: (() => void)[] = [];
      const settle = (settled: () => void) => {
        for (const step of undo.splice(0)) step();
        settled();
      };
      const fail = (error: Error) => settle(() => reject(error));
      const abort = () => fail(new OperationAbortedError(signal?.reason, { ambiguous: false }));
      if (signal?.aborted === true) {
        abort();
        return;
      }
      if (signal !== undefined) undo.push(onAbort(signal, abort));
      if (timeoutMs > 0) {
        const expire = () => fail(new OperationTimeoutError());
        undo.push(surroundings.setTimer(timeoutMs, expire));
      }
      const onEnd = this.#client.onState(({ state, error }) => {
        if (state === 'closed') fail(error ?? new ClientClosedError());
      });
      undo.push(onEnd);
      answer.then(
        (value) => settle(() => resolve(value)),
        (error: Error) => fail(error),
      );
    });
  }
}

type AskingClient = Pick<Client, 'connected' | 'onState' | 'session' | 'surroundings'>;
