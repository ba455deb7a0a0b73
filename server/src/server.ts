/**
 * One member of an ensemble: puts storage, network and the core together and runs them.
 *
 * The driver is not wired yet: starting refuses with a message.
 */
import type { PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { OperatorError } from './operator-error.js';

export interface ServerOptions {
  /** Which of the config's servers this is. */
  readonly id: PeerId;
  readonly logger: Logger;
  /** Found an ensemble although not every configured member is reachable. */
  readonly found: boolean;
}

export interface RunningServer {
  /** Stops cleanly; resolves when nothing of the member is left open. Safe to call again. */
  close(): Promise<void>;
  /** Resolves when it has stopped; rejects when it had to stop because of an error. */
  readonly closed: Promise<void>;
}

export async function startServer(_config: Config, options: ServerOptions): Promise<RunningServer> {
  throw new OperatorError(`member ${options.id} cannot start: this build has no driver yet`);
}
