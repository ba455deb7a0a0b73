/**
 * `rookery server` runs one member in the foreground, until a signal or an error ends it.
 *
 * It is the composition root of a member: config and logger are created here and passed down. An
 * error that nothing catches ends the process with one fatal log line: a member that continues
 * after an error it does not understand could still answer pings and lie.
 */

import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import {
  type Config,
  loadConfig,
  memoryLimit,
  OperatorError,
  type RunningServer,
  startServer,
  tuningFromEnvironment,
} from '@rookery/server';
import type { Logger } from 'pino';
import { createLogger } from '../terminal/log-output.js';
import { growHeapInSteps } from './heap-growth.js';
import { trimHeapWhenQuiet } from './heap-trim.js';

/** A clean stop takes milliseconds; a disk that hangs must not keep the process forever. */
const STOP_TIMEOUT_MS = 10_000;

interface ServerCommand {
  readonly config: string;
  readonly id: number;
  readonly found: boolean;
}

/** Resolves with the exit code once the member has stopped; rejects when it cannot start. */
export async function runServer(command: ServerCommand): Promise<number> {
  const { id, found } = command;
  // Data, ACLs and digests of passwords are in its files: other users of the machine get none.
  process.umask(0o077);
  const config = loadConfig(command.config, id);
  const logger = createLogger(config.logLevel, { member: id });
  failLoudly(logger);
  warnOfReadableConfig(command.config, config, logger);
  growHeapInSteps(memoryLimit().bytes);
  trimHeapWhenQuiet();
  const stopRequested = stopSignal();
  // The handlers are set up before the start, because a long recovery must be stoppable too.
  const stopping = new AbortController();
  const manager = new ServiceManager(process.env, logger);
  void stopRequested.then((reason) => {
    limitStop(reason, logger);
    manager.stopping();
    stopping.abort(reason);
  });
  const tuning = tuningFromEnvironment(process.env);
  logger.info(
    { config: command.config, dataDir: config.dataDir, processId: process.pid },
    'server.start',
  );
  const server = await started(
    startServer(config, { id, logger, found, tuning }, stopping.signal),
    stopping.signal,
  );
  if (server === null) return stopped(logger);
  manager.ready();
  void stopRequested.then(() => server.close());
  try {
    await server.closed;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    logger.fatal({ err: error }, 'server.failed');
    return 1;
  }
  return stopped(logger);
}

/** Hashes in a file that others can read can be guessed offline, where no attempt is counted. */
function warnOfReadableConfig(path: string, config: Config, logger: Logger): void {
  const { adminUsers, adminReaders, superDigest, superIdentities } = config;
  const digests = superIdentities.filter((identity) => identity.startsWith('digest:'));
  const count = adminUsers.length + adminReaders.length + digests.length;
  if (count === 0 && superDigest === null) return;
  const { mode, uid } = statSync(path);
  // As for files with secrets: container platforms let a group read what belongs to root.
  if ((mode & (uid === 0 ? 0o004 : 0o044)) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  logger.warn({ path, mode: shown, remedy: `chmod 600 ${path}` }, 'config.readable_by_others');
}

/** Null if the member was stopped before it had begun to do anything. */
async function started(
  starting: Promise<RunningServer>,
  signal: AbortSignal,
): Promise<RunningServer | null> {
  try {
    return await starting;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return null;
    throw error;
  }
}

function stopped(logger: Logger): number {
  logger.info('server.stopped');
  return 0;
}

/** Resolves on the first signal, or when the ensemble process that started this one is gone. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    // The listeners stay: a second signal (a terminal sends Ctrl-C to all processes) must not
    // interrupt the clean stop.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => resolve(signal));
    }
    process.on('disconnect', () => resolve('the ensemble process is gone'));
  });
}

function limitStop(reason: string, logger: Logger): void {
  logger.info({ reason }, 'server.stopping');
  setTimeout(() => {
    logger.fatal({ timeoutMs: STOP_TIMEOUT_MS }, 'server.stop-timeout');
    process.exit(1);
  }, STOP_TIMEOUT_MS).unref();
}

function failLoudly(logger: Logger): void {
  const fail = (error: unknown, event: string) => {
    logger.fatal({ err: error }, event);
    process.exit(1);
  };
  process.on('uncaughtException', (error) => fail(error, 'process.uncaught-exception'));
  process.on('unhandledRejection', (error) => fail(error, 'process.unhandled-rejection'));
}

const TIMEOUT_MS = 5_000;

type Run = (file: string, args: readonly string[], done: (error: Error | null) => void) => void;

/**
 * Tells systemd how far a member is, for units with `Type=notify`.
 *
 * systemd says in NOTIFY_SOCKET that it wants to know. Node has no datagram sockets of that kind,
 * so its own `systemd-notify` sends the message, and the unit needs `NotifyAccess=all`. A message
 * that cannot be sent is a line in the log and nothing else.
 */
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
