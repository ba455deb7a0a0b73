/**
 * A generator process, seen from the bench, which calls its methods and ends it.
 *
 * The process ends with the bench, whatever the reason. A call that fails there throws here, with
 * the stack from there. If the process ends by itself, every open call fails.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { AgentCall, AgentMethod, AgentReply } from './agent-calls.js';
import type { AgentService } from './agent-service.js';

const MAIN = fileURLToPath(new URL('./agent-main.js', import.meta.url));

type Parameters_<K extends AgentMethod> = Parameters<AgentService[K]>;
type Result<K extends AgentMethod> = Awaited<ReturnType<AgentService[K]>>;

interface OpenCall {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Agent {
  readonly #child: ChildProcess;
  readonly #open = new Map<number, OpenCall>();
  readonly #killOnExit = () => this.#child.kill('SIGKILL');
  #calls = 0;

  constructor() {
    this.#child = fork(MAIN, { serialization: 'advanced', execArgv: ['--expose-gc'] });
    this.#child.on('message', (reply: AgentReply) => this.#onReply(reply));
    this.#child.on('exit', (code, signal) => this.#onExit(signal ?? `code ${code}`));
    process.on('exit', this.#killOnExit);
  }

  call<K extends AgentMethod>(method: K, ...parameters: Parameters_<K>): Promise<Result<K>> {
    const number = ++this.#calls;
    const call: AgentCall = { number, method, parameters };
    return new Promise((resolve, reject) => {
      // The one place where a message becomes a value again: the other side runs the same code.
      this.#open.set(number, { resolve: (result) => resolve(result as Result<K>), reject });
      this.#child.send(call, (error) => {
        if (error !== null) reject(error);
      });
    });
  }

  async end(): Promise<void> {
    process.off('exit', this.#killOnExit);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }

  #onReply({ number, result, failure }: AgentReply): void {
    const call = this.#open.get(number);
    this.#open.delete(number);
    if (failure === null) call?.resolve(result);
    else call?.reject(new Error(`in the generator: ${failure}`));
  }

  #onExit(ending: string): void {
    for (const { reject } of this.#open.values()) {
      reject(new Error(`the generator ended with ${ending}`));
    }
    this.#open.clear();
  }
}
