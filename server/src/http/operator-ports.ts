/**
 * Opens the configured metrics port and admin port of one member.
 *
 * Loaded only when one of them is configured. Both answer `/metrics` and the probes; the admin port
 * also has the commands, the events and `/api/v1`. A fault here never ends a member: an answer that
 * cannot be made is logged and answered with 500.
 */
import { clientAddressOf, listenHostsOf, metricsHostOf } from '../config/addresses.js';
import type { Config, ServerAddress } from '../config/config.js';
import { ListenError } from '../net/listen-error.js';
import { RateLimitedLog } from '../net/rate-limited-log.js';
import { systemTimers } from '../net/timers.js';
import type { AuditSink } from '../pipeline/audit.js';
import type { LoginDelays } from '../security/login-delays.js';
import type { PasswordHashes } from '../security/password-hashes.js';
import { AdminAccess } from './admin-access.js';
import { AdminAudit } from './admin-audit.js';
import { type Administered, adminRouter, type BackupMember } from './admin-router.js';
import type { ApiMember } from './api/api-member.js';
import { ConsoleFiles, consoleDirectory } from './console-files.js';
import { FreeSpace } from './free-space.js';
import { HttpLogins } from './http-logins.js';
import { HttpPort, type Router } from './http-port.js';
import { metricsRouter } from './metrics-router.js';

type OperatedMember = BackupMember & ApiMember;

export interface OperatorPorts {
  close(): Promise<void>;
}

/** Throws ListenError, and nothing is open then. */
export async function openOperatorPorts(
  member: OperatedMember,
  at: Administered & {
    readonly directories: { readonly data: string; readonly log: string };
    readonly logins: LoginDelays;
    /** Null where nothing is audited. */
    readonly audit: AuditSink | null;
  },
): Promise<OperatorPorts> {
  const { config, self, logger } = at;
  const free = new FreeSpace(at.directories);
  // Strangers can cause them as often as they like.
  const faults = new RateLimitedLog(logger, systemTimers());
  const opened: HttpPort[] = [];
  const close = async (): Promise<void> => {
    try {
      await Promise.all(opened.map((port) => port.close()));
    } finally {
      faults.close();
    }
  };
  const open = async (purpose: 'metrics' | 'admin', router: Router, host: string, port: number) => {
    const isAdmin = purpose === 'admin';
    const onFault = (err: unknown) =>
      faults.error(isAdmin ? 'admin.failed' : 'metrics.failed', { err });
    const http = new HttpPort(router, { host, port, takesBodies: isAdmin }, onFault);
    try {
      await http.listen();
    } catch (cause) {
      await close();
      throw new ListenError(purpose, { host, port }, cause);
    }
    opened.push(http);
    logger.info({ host, port: http.port }, `${purpose}.listening`);
  };
  const { metricsPort, adminPort } = self;
  const metrics = metricsRouter(member, () => free.read(), config);
  if (metricsPort !== undefined) {
    await open('metrics', metrics, metricsHostOf(config, self), metricsPort);
  }
  if (adminPort !== undefined) {
    const nowMs = () => performance.now();
    const audit = new AdminAudit(at.audit);
    const logins = new HttpLogins(at.logins, nowMs, (address) => audit.failedLogin(address));
    const access = newAccess(config, self, logins, at.passwords);
    const files = new ConsoleFiles(consoleDirectory(), nowMs);
    const admin = adminRouter(member, at, { access, audit, logins, metrics, console: files });
    await open('admin', admin, config.adminHost, adminPort);
  }
  return { close };
}

/** The names by which the member is asked for in its own right; a wildcard is none. */
function ownHosts(self: ServerAddress): readonly string[] {
  const { host, clientHost = host } = self;
  return [host, clientHost, ...listenHostsOf(clientAddressOf(self))];
}

function newAccess(
  config: Config,
  self: ServerAddress,
  logins: HttpLogins,
  passwords: PasswordHashes,
): AdminAccess {
  const { adminUsers, superDigest, adminHost, adminReaders: readers } = config;
  const users = superDigest === null ? adminUsers : [...adminUsers, superDigest];
  const hosts = [...ownHosts(self), adminHost];
  return new AdminAccess(
    { users, readers, origins: config.adminOrigins, hosts },
    logins,
    passwords,
  );
}
