/**
 * The log of a client: to the application's logger, or, without one, those few lines that nobody
 * should miss as process warnings.
 *
 * Every line has the fields `event` and `client`, the client's name. Throws nothing: what a logger
 * throws is reported as uncaught. Made once a client, with its options.
 */
import { Console } from 'node:console';
import type { Log, Logger, LogLevel } from './api/logger.js';

/** What is said without a logger, and the codes of the process warnings. */
const WARNING_CODES: Readonly<Record<string, string>> = {
  'session.no_server': 'ROOKERY_NO_SERVER',
  'session.lag': 'ROOKERY_LAG',
  'recipe.failed': 'ROOKERY_RECIPE_FAILED',
};

export interface ClientLogOptions {
  /** Null for process warnings. */
  readonly logger: Logger | null;
  /** The client's. */
  readonly name: string;
}

export class ClientLog implements Log {
  readonly #logger: Logger | null;
  readonly #name: string;
  /** The logger, when it is one that takes the sentence first. */
  readonly #console: Console | null;

  constructor({ logger, name }: ClientLogOptions) {
    this.#logger = logger;
    this.#name = name;
    this.#console = logger !== null && logger instanceof Console ? logger : null;
  }

  debug(event: string, message: string, fields?: object): void {
    this.#say('debug', event, message, fields);
  }

  info(event: string, message: string, fields?: object): void {
    this.#say('info', event, message, fields);
  }

  warn(event: string, message: string, fields?: object): void {
    this.#say('warn', event, message, fields);
  }

  error(event: string, message: string, fields?: object): void {
    this.#say('error', event, message, fields);
  }

  #say(level: LogLevel, event: string, message: string, fields: object | undefined): void {
    const logger = this.#logger;
    if (logger === null) {
      warnByProcess(event, message);
      return;
    }
    const all = { event, client: this.#name, ...fields };
    try {
      if (this.#console !== null) this.#console[level](message, all);
      else logger[level](all, message);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

function warnByProcess(event: string, message: string): void {
  const code = WARNING_CODES[event];
  if (code !== undefined) process.emitWarning(message, { type: 'RookeryWarning', code });
}
