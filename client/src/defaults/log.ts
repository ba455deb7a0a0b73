/**
 * The log of a client. It writes to the logger of the application. Without one, it reports the few
 * events that nobody should miss as process warnings.
 *
 * Every line has the fields `event` and `client`, which is the client's name. It throws nothing: an
 * exception of a logger is reported as uncaught. Each client has one.
 */
import { Console } from 'node:console';
import type { Log, Logger, LogLevel } from '../api/logger.js';

/** The events that are reported without a logger, and the codes of their process warnings. */
const WARNING_CODES: Readonly<Record<string, string>> = {
  'session.no_server': 'ROOKERY_NO_SERVER',
  'session.lag': 'ROOKERY_LAG',
  'recipe.failed': 'ROOKERY_RECIPE_FAILED',
  'tls.not_reloaded': 'ROOKERY_TLS_FILES',
};

export interface ClientLogOptions {
  /** Null to use process warnings. */
  readonly logger: Logger | null;
  /** The name of the client. */
  readonly name: string;
}

export class ClientLog implements Log {
  readonly #logger: Logger | null;
  readonly #name: string;
  /** The logger, if it is a console, which takes the message first. */
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
