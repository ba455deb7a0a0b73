/**
 * `rookery console`: the console for any ensemble that speaks ZooKeeper's protocol, on loopback,
 * until it is interrupted.
 *
 * Whoever is on this machine can reach the port, and the credentials of the person who runs the
 * command are behind it. Everything is therefore below a key that is in the address that it prints,
 * and nowhere else.
 */
import { randomBytes } from 'node:crypto';
import { addressText, errorMessage } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import { AdminAccess, ConsoleFiles, consoleDirectory, HttpPort } from '@rookery/server/http';
import type { Logger } from 'pino';
import { addressesOf } from '../command/addresses.js';
import type { Target } from '../command/target.js';
import { createLogger } from '../terminal/log-output.js';
import { ClientPool, gatewayClients, ownDigests } from './client-pool.js';
import { gatewayRouter } from './gateway.js';
import { ServerWords } from './server-words.js';

const HOST = '127.0.0.1';
const KEY_BYTES = 16;

interface ConsoleCommand {
  readonly target: Target;
  /** 0 for any that is free. */
  readonly port: number;
  readonly mayWrite: boolean;
}

/** Resolves with the exit code once it was interrupted. Throws OperatorError. */
export async function runConsole({ target, port, mayWrite }: ConsoleCommand): Promise<number> {
  const logger = createLogger('info', {});
  const pool = new ClientPool(gatewayClients(target), ownDigests(target));
  const words = new ServerWords(addressesOf(target.connect, target.tls));
  const key = randomBytes(KEY_BYTES).toString('base64url');
  const nowMs = () => performance.now();
  const access = new AdminAccess({ users: [], readers: [], origins: [], hosts: [] });
  const files = new ConsoleFiles(consoleDirectory(), nowMs);
  const router = gatewayRouter({ pool, words, files, access, key, mayWrite, logger });
  const http = new HttpPort(router, { host: HOST, port, takesBodies: true }, (err) =>
    logger.error({ err }, 'console.failed'),
  );
  try {
    await http.listen();
  } catch (cause) {
    const reason = errorMessage(cause);
    throw new OperatorError(`the console cannot be opened: ${reason}`, { cause });
  }
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
  });
  await tellReach(words, logger);
  process.stdout.write(`http://${addressText(HOST, http.port)}/${key}/console/\n`);
  await interrupted;
  await Promise.all([http.close(), pool.close()]);
  return 0;
}

/** Reports what will be missing in the console. */
async function tellReach(words: ServerWords, logger: Logger): Promise<void> {
  const [members] = await Promise.all([words.members(), words.connected()]);
  for (const { address, srvr } of members) {
    if (srvr === null) logger.warn({ server: address.address }, 'console.server_silent');
  }
  if (!words.tellsSessions) logger.info({ word: 'cons' }, 'console.sessions_not_told');
}
