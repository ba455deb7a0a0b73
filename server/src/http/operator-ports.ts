/**
 * Opens what a configuration asks for: the metrics port and the admin port of one member.
 *
 * Loaded only when one of them is configured. Both answer `/metrics` and the probes; the admin port
 * has the commands and the events, too. What goes wrong here never ends a member: an answer that
 * cannot be made is logged, and the one who asked is told so.
 */
import type { Acl } from '@rookery/protocol';
import type { Logger } from 'pino';
import { clientAddressOf, listenHostsOf, metricsHostOf } from '../config/addresses.js';
import type { Config, ServerAddress } from '../config/config.js';
import type { EventRing } from '../measures/event-ring.js';
import { ListenError } from '../net/listen-error.js';
import { RateLimitedLog } from '../net/rate-limited-log.js';
import { systemTimers } from '../net/timers.js';
import type { AuditSink } from '../pipeline/audit.js';
import type { LoginDelays } from '../security/login-delays.js';
import type { PasswordHashes } from '../security/password-hashes.js';
import { AdminAccess } from './admin-access.js';
import { AdminAudit } from './admin-audit.js';
import type { BackupMember } from './admin-router.js';
import { adminRouter } from './admin-router.js';
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
  at: {
    readonly config: Config;
    readonly self: ServerAddress;
    readonly directories: { readonly data: string; readonly log: string };
    readonly logger: Logger;
    readonly events: EventRing;
    readonly logins: LoginDelays;
    /** Null where nothing is audited. */
    readonly audit: AuditSink | null;
    readonly passwords: PasswordHashes;
    /** See `AdminParts`. */
    readonly defaultAcl: readonly Acl[] | null;
  },
): Promise<OperatorPorts> {
  const { config, self, directories, logger, events } = at;
  const free = new FreeSpace(directories);
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
    const http = new HttpPort({ host, port, router, takesBodies: isAdmin, onFault });
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
  const metrics = metricsRouter(member, free, config);
  if (metricsPort !== undefined) {
    await open('metrics', metrics, metricsHostOf(config, self), metricsPort);
  }
  if (adminPort !== undefined) {
    const nowMs = () => performance.now();
    const audit = new AdminAudit(at.audit);
    const logins = new HttpLogins(at.logins, nowMs, (address) => audit.failedLogin(address));
    const access = newAccess({ config, self, logins, passwords: at.passwords });
    const files = new ConsoleFiles({ directory: consoleDirectory(), nowMs });
    const { defaultAcl } = at;
    const shown = { metrics, console: files, defaultAcl, audit, passwords: at.passwords };
    const of = { member, config, self, events, access, logins, ...shown, logger };
    const admin = adminRouter(of);
    await open('admin', admin, config.adminHost, adminPort);
  }
  return { close };
}

/** The names by which the member is asked for in its own right; a wildcard is none. */
function hostsOf(self: ServerAddress): readonly string[] {
  const { host, clientHost = host } = self;
  return [host, clientHost, ...listenHostsOf(clientAddressOf(self))];
}

function newAccess({
  config,
  self,
  logins,
  passwords,
}: {
  readonly config: Config;
  readonly self: ServerAddress;
  readonly logins: HttpLogins;
  readonly passwords: PasswordHashes;
}): AdminAccess {
  const { adminUsers, superDigest, adminHost, adminReaders: readers } = config;
  const users = superDigest === null ? adminUsers : [...adminUsers, superDigest];
  return new AdminAccess({
    users,
    readers,
    origins: config.adminOrigins,
    hosts: [...hostsOf(self), adminHost],
    logins,
    passwords,
  });
}
