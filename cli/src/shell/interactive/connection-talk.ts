/**
 * Says in a sentence what happens to the connection of an interactive shell: it is lost, it is
 * back, the session has expired, there is no quorum. Nothing of it ends the shell.
 */
import type { Client, StateChange } from '@rookery/client';
import type { Target } from '../../command/target.js';
import { whyNotConnected } from '../../command/why-not-connected.js';

/** A member that restarts, or an election, takes less. */
const EXPLAIN_AFTER_MS = 3_000;

export class ConnectionTalk {
  readonly #client: Client;
  readonly #target: Target;
  readonly #say: (sentence: string) => void;
  #timer: NodeJS.Timeout | null = null;
  #wasLost = false;
  #isFirst = true;
  readonly #unlisten: () => void;

  constructor(client: Client, target: Target, say: (sentence: string) => void) {
    this.#client = client;
    this.#target = target;
    this.#say = say;
    this.#unlisten = client.onState((change) => this.#onState(change));
    if (client.state !== 'connected') this.#explainLater();
  }

  close(): void {
    this.#unlisten();
    this.#stopTimer();
  }

  #onState({ state, readOnly }: StateChange): void {
    if (state === 'suspended') {
      this.#say('The connection is lost; the shell looks for another server.');
      this.#explainLater();
    } else if (state === 'lost') {
      this.#wasLost = true;
      this.#say(
        'The session has expired: its ephemeral znodes are gone. A new one is being opened.',
      );
      this.#explainLater();
    } else if (state === 'connected') {
      this.#stopTimer();
      const session = this.#wasLost ? ' with a new session' : '';
      const mode = readOnly ? '; the server has no quorum and only reads' : '';
      const again = this.#isFirst ? '' : ' again';
      this.#say(`Connected${again} to ${this.#client.server}${session}${mode}.`);
      this.#wasLost = false;
      this.#isFirst = false;
    }
  }

  #explainLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#explain();
    }, EXPLAIN_AFTER_MS);
  }

  async #explain(): Promise<void> {
    const seconds = { ...this.#target, timeoutMs: EXPLAIN_AFTER_MS };
    const why = await whyNotConnected(seconds);
    if (this.#client.state !== 'connected' && this.#client.state !== 'closed') this.#say(why);
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
