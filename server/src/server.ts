/**
 * A member on this machine: real sockets, LevelDB, the system's clocks and randomness.
 *
 * The composition root of a process; `member.ts` puts the parts together. Everything that an
 * operator can get wrong is found before the member takes part in anything.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Config, ServerAddress } from './config.js';
import { directoryBytes } from './directory-bytes.js';
import { fileBudgetOf } from './file-budget.js';
import { keepAside } from './keep-aside.js';
import { Member } from './member.js';
import type { MemberOptions } from './member-options.js';
import { memoryLimit } from './memory-limit.js';
import { ListenError } from './net/listen-error.js';
import { openFilesMax } from './net/open-files.js';
import { ADDRESSES_FILE, PeerNames } from './net/peer-names.js';
import { TcpTransport } from './net/tcp.js';
import { systemTimers } from './net/timers.js';
import type { Address, Transport } from './net/transport.js';
import { OperatorError } from './operator-error.js';
import { openStores } from './storage/index.js';

export type ServerOptions = MemberOptions;

export interface RunningServer {
  /** Stops cleanly; resolves when nothing of the member is left open. Safe to call again. */
  close(): Promise<void>;
  /** Resolves when it has stopped; rejects when it had to stop because of an error. */
  readonly closed: Promise<void>;
}

/**
 * Starts a member; resolves when its ports are open. Rejects with OperatorError for what the
 * operator must mend (a port in use, a directory that is not this member's).
 */
export async function startServer(config: Config, options: ServerOptions): Promise<RunningServer> {
  const self = config.servers.find((server) => server.id === options.id);
  if (self === undefined) throw new OperatorError(`no server in the config has id ${options.id}`);
  const files = fileBudgetOf(openFilesMax(), config.servers.length);
  const names = new PeerNames(options.logger);
  const transport = new TcpTransport(options.logger, names);
  await probePorts(transport, config, self);
  const stores = await openStores({ ...config, memberId: self.id });
  await names.keepIn(join(config.dataDir, String(self.id), ADDRESSES_FILE));
  const member = await Member.open(config, options, {
    ...stores,
    transport,
    timers: systemTimers(),
    random: Math.random,
    randomBytes,
    uuid: randomUUID,
    directoryBytes,
    keepAside,
    memory: memoryLimit(),
    files,
  });
  await member.listen().catch((error: unknown) => {
    throw asOperatorError(error);
  });
  return member;
}

/** A port in use is told before a single file is made. */
async function probePorts(
  transport: Transport,
  config: Config,
  self: ServerAddress,
): Promise<void> {
  await probe(transport, 'client', { host: self.host, port: self.clientPort });
  if (config.servers.length === 1) return;
  await probe(transport, 'peer', { host: self.host, port: self.peerPort });
}

async function probe(transport: Transport, purpose: 'client' | 'peer', address: Address) {
  try {
    const listener = await transport.listen(address, (stream) => stream.destroy());
    await listener.close();
  } catch (error) {
    throw asOperatorError(new ListenError(purpose, address, error));
  }
}

function asOperatorError(error: unknown): unknown {
  return error instanceof ListenError ? new OperatorError(error.message, { cause: error }) : error;
}
