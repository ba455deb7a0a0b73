/**
 * Tells systemd how far a member is, for units with `Type=notify`.
 *
 * systemd says in NOTIFY_SOCKET that it wants to know. Node has no datagram sockets of that kind,
 * so its own `systemd-notify` sends the message, and the unit needs `NotifyAccess=all`. A message
 * that cannot be sent is a line in the log and nothing else.
 */
import { execFile } from 'node:child_process';
import type { Logger } from 'pino';

const TIMEOUT_MS = 5_000;

type Run = (file: string, args: readonly string[], done: (error: Error | null) => void) => void;

export class ServiceManager {
  readonly #isAsked: boolean;
  readonly #logger: Logger;
  readonly #run: Run;

  constructor(environment: NodeJS.ProcessEnv, logger: Logger, run: Run = inTime) {
    this.#isAsked = (environment['NOTIFY_SOCKET'] ?? '') !== '';
    this.#logger = logger;
    this.#run = run;
  }

  /** Reports that the member's ports are open; whether it serves depends on the others, too. */
  ready(): void {
    this.#tell('READY=1');
  }

  /** Reports that the member stops cleanly from now on. */
  stopping(): void {
    this.#tell('STOPPING=1');
  }

  #tell(message: string): void {
    if (!this.#isAsked) return;
    this.#run('systemd-notify', [message], (error) => {
      if (error !== null) this.#logger.warn({ message, err: error }, 'server.notify_failed');
    });
  }
}

function inTime(file: string, args: readonly string[], done: (error: Error | null) => void): void {
  execFile(file, args, { timeout: TIMEOUT_MS }, (error) => done(error));
}
