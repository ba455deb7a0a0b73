/**
 * A member on this machine: real sockets, LevelDB, the system's clocks and randomness.
 *
 * The composition root of a process; `member.ts` puts the parts together. Everything that an
 * operator can get wrong is found before the member takes part in anything.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { AuditLog, auditFileOf, checkAuditFile } from './audit/audit-log.js';
import {
  clientAddressOf,
  type ListenAddress,
  metricsHostOf,
  peerAddressOf,
  secureClientAddressOf,
} from './config/addresses.js';
import { type Config, memberDirectories, type ServerAddress } from './config/config.js';
import { OperatorError } from './config/operator-error.js';
import type { BackupTaker } from './driver/backup-schedule.js';
import { withRoom } from './driver/start-room.js';
import { EventRing, recordingLogger } from './measures/event-ring.js';
import { fileBudgetOf, memoryLimit } from './member/budgets.js';
import { directoryBytes, spaceOf } from './member/disk-measures.js';
import { keepAside } from './member/keep-aside.js';
import { Member } from './member/member.js';
import type { MemberOptions } from './member/member-options.js';
import { MemberSecurity } from './member/member-security.js';
import { OwnNames } from './member/own-names.js';
import { rootAclOf } from './member/root-acl.js';
import { ListenError, type PortPurpose } from './net/listen-error.js';
import { openFilesMax } from './net/open-files.js';
import { ADDRESSES_FILE, PeerNames } from './net/peer-names.js';
import { TcpTransport } from './net/tcp.js';
import { systemTimers } from './net/timers.js';
import type { Transport } from './net/transport.js';
import type { AuditSink } from './pipeline/audit.js';
import type { LoginDelays } from './security/login-delays.js';
import { openDirectoryProblem } from './security/own-file.js';
import type { PasswordHashes } from './security/password-hashes.js';
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
 * operator must fix (a port in use, a directory that is not this member's), and with the reason of
 * `signal` if that is aborted while the member waits for its own name to resolve, or for room on
 * its disk.
 */
export async function startServer(
  config: Config,
  options: ServerOptions,
  signal?: AbortSignal,
): Promise<RunningServer> {
  const self = config.servers.find((server) => server.id === options.id);
  if (self === undefined) throw new OperatorError(`no server in the config has id ${options.id}`);
  const files = fileBudgetOf(openFilesMax(), config.servers.length);
  const events = new EventRing(Date.now);
  const logger = recordingLogger(options.logger, events);
  // Before anything is written: a secret that cannot be used is for the operator to fix.
  const security = new MemberSecurity(config, logger);
  const names = new PeerNames(logger);
  const transport = new TcpTransport(logger, names);
  const resolve = (name: string) => names.resolve(name);
  const ownNames = new OwnNames(config, self, resolve, systemTimers(), logger);
  await ownNames.untilResolved(signal);
  await probePorts(transport, config, self);
  const auditing = auditingOf(config, self, logger);
  const backups = await backupTakerOf(config, self, logger);
  const room = { ...config, directories: memberDirectories(config, self.id), spaceOf };
  const stores = await withRoom(
    () => openStores({ ...config, memberId: self.id }),
    { ...room, logger, timers: systemTimers() },
    signal,
  );
  await names.keepIn(join(config.dataDir, String(self.id), ADDRESSES_FILE));
  const audit = auditing === null ? undefined : new AuditLog(auditing);
  const member = await Member.open(
    config,
    { ...options, logger },
    {
      ...stores,
      transport,
      timers: systemTimers(),
      random: Math.random,
      randomBytes,
      uuid: randomUUID,
      directoryBytes,
      spaceOf,
      keepAside,
      memory: memoryLimit(),
      events,
      files,
      ...backups,
      clientTls: security.clientTls,
      peerTls: security.peerTls,
      peerSecrets: security.peerSecrets,
      sasl: security.sasl,
      logins: security.logins,
      passwords: security.passwords,
      audit,
    },
  ).catch(async (error: unknown) => {
    await Promise.all([names.close(), audit?.close()]);
    throw error;
  });
  security.start();
  void audit?.lost.then((error) => member.fail(error));
  const closed = withFilesClosed(member.closed, names, audit);
  const ended = closed.catch(() => undefined);
  void member.closed.catch(() => undefined).then(() => security.close());
  try {
    await member.listen();
    void ownNames.warnOfLoopback();
    const { logins } = security;
    const close = await withOperatorPorts(member, {
      config,
      self,
      logger,
      events,
      logins,
      audit: audit ?? null,
      passwords: security.passwords,
    });
    return { close: () => close().then(() => ended), closed };
  } catch (error) {
    // The call that failed has closed the member.
    await ended;
    throw asOperatorError(error);
  }
}

/** Null where nothing is audited. Throws OperatorError if nothing can be, and it is required. */
function auditingOf(config: Config, { id: member }: ServerAddress, logger: Logger) {
  if (config.auditFile === null) return null;
  const { auditBytesMax: bytesMax, auditFilesKept: filesKept, auditRequired: required } = config;
  const path = auditFileOf(config.auditFile, member);
  const auditing = { member, path, bytesMax, filesKept, required, logger, timers: systemTimers() };
  checkAuditFile(auditing);
  void warnOfOpenDirectory(path, logger);
  return auditing;
}

/**
 * Settles as `closed` does, once the audit log and the file of addresses are closed, too. After a
 * failure it does not wait for the file of addresses: a disk that hangs must not hide the failure.
 */
async function withFilesClosed(
  closed: Promise<void>,
  names: PeerNames,
  audit: AuditLog | undefined,
): Promise<void> {
  try {
    await closed;
  } catch (error) {
    void names.close();
    await audit?.close();
    throw error;
  }
  await Promise.all([names.close(), audit?.close()]);
}

/** Never rejects. Backups and the audit log show what the tree holds and what happens to it. */
async function warnOfOpenDirectory(path: string, logger: Logger): Promise<void> {
  const problem = await openDirectoryProblem(path);
  if (problem !== null) logger.warn({ path, problem }, 'server.directory_open');
}

async function backupTakerOf(
  config: Config,
  { id }: ServerAddress,
  logger: Logger,
): Promise<{ readonly backupTaker?: BackupTaker }> {
  const { backupDirectory: directory, diskReserveBytes: reserveBytes } = config;
  if (directory === null) return {};
  void warnOfOpenDirectory(join(directory, 'snapshot'), logger);
  const rule = { newest: config.backupsKept, days: config.backupDaysKept };
  const { BackupKeeper } = await import('./member/backup-keeper.js');
  const backupTaker = new BackupKeeper({
    id,
    directory,
    rule,
    reserveBytes,
    spaceOf,
    wallMs: () => Date.now(),
  });
  return { backupTaker };
}

/**
 * Returns what closes the member and its operator ports. The code of these takes memory and time to
 * load, so it is loaded only where such a port is configured.
 */
async function withOperatorPorts(
  member: Member,
  at: {
    readonly config: Config;
    readonly self: ServerAddress;
    readonly logger: Logger;
    readonly events: EventRing;
    readonly logins: LoginDelays;
    readonly audit: AuditSink | null;
    readonly passwords: PasswordHashes;
  },
): Promise<() => Promise<void>> {
  const { config, self } = at;
  const isNeeded = self.metricsPort !== undefined || self.adminPort !== undefined;
  if (!isNeeded) return () => member.close();
  const { openOperatorPorts } = await import('./http/index.js');
  const directories = memberDirectories(config, self.id);
  try {
    const ports = await openOperatorPorts(member, {
      ...at,
      directories,
      defaultAcl: rootAclOf(config),
    });
    void member.closed.catch(() => undefined).then(() => ports.close());
    return async () => {
      await Promise.all([ports.close(), member.close()]);
    };
  } catch (error) {
    await member.close();
    throw error;
  }
}

/** Reports a port in use before any file is made. */
async function probePorts(
  transport: Transport,
  config: Config,
  self: ServerAddress,
): Promise<void> {
  const { metricsPort, adminPort } = self;
  await probe(transport, 'client', clientAddressOf(self));
  const secureAddress = secureClientAddressOf(self);
  if (secureAddress !== null) await probe(transport, 'secureClient', secureAddress);
  if (metricsPort !== undefined) {
    await probe(transport, 'metrics', { host: metricsHostOf(config, self), port: metricsPort });
  }
  if (adminPort !== undefined) {
    await probe(transport, 'admin', { host: config.adminHost, port: adminPort });
  }
  if (config.servers.length === 1) return;
  await probe(transport, 'peer', peerAddressOf(self));
}

async function probe(transport: Transport, purpose: PortPurpose, address: ListenAddress) {
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
