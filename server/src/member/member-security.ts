/**
 * The certificates, secrets and users from the files that the config names, by which a member
 * proves its identity and checks those of clients and other members.
 *
 * Everything that is wrong with these files is found when it is made, before the member does
 * anything. From `start` on, the files are followed while they change.
 */
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { RateLimitedLog } from '../net/rate-limited-log.js';
import { systemTimers, type Timers } from '../net/timers.js';
import { ClientTls, PeerTls } from '../net/watched-tls.js';
import { DigestMd5Server, readSaslUsers } from '../security/digest-md5.js';
import { LoginDelays } from '../security/login-delays.js';
import { isScryptEntry, PasswordHashes } from '../security/password-hashes.js';
import { watchedPeerSecrets } from '../security/peer-secrets.js';
import type { SaslServer } from '../security/sasl.js';
import { WatchedFiles } from '../security/watched-files.js';
import { rootAclOf } from './root-acl.js';

interface Followed {
  start(): void;
  close(): void;
}

export class MemberSecurity {
  /** Undefined where clients connect in plain text. */
  readonly clientTls: ClientTls | undefined;
  /** Null where members have no TLS. */
  readonly peerTls: PeerTls | null;
  /** Undefined where clients do not authenticate by SASL. */
  readonly sasl: SaslServer | undefined;
  /** Shared by all ports that accept logins. */
  readonly logins: LoginDelays;
  /** Those of the config file that are hashed by scrypt; shared likewise. */
  readonly passwords: PasswordHashes;
  readonly #secrets: WatchedFiles<readonly Uint8Array[]> | null;
  readonly #rateLimited: RateLimitedLog;
  readonly #followed: readonly Followed[];

  /** Throws OperatorError with a sentence that names the file or the setting. */
  constructor(config: Config, logger: Logger) {
    const { tls, sasl, peerAuth, servers } = config;
    // Used when an ensemble is founded; what is wrong with it is said at once.
    rootAclOf(config);
    const to = { logger, timers: systemTimers() };
    this.#rateLimited = new RateLimitedLog(logger, to.timers);
    this.logins = new LoginDelays((failure) =>
      this.#rateLimited.warn('login.delayed', { ...failure }),
    );
    const entries = passwordEntries(config);
    this.passwords = new PasswordHashes(entries.map(({ entry }) => entry));
    const fast = entries.filter(({ entry }) => !isScryptEntry(entry)).map(({ setting }) => setting);
    if (fast.length > 0) logger.warn({ settings: [...new Set(fast)] }, 'config.fast_digests');
    // No other member dials one that is alone.
    const peers = peerAuth === 'none' || servers.length === 1 ? null : peerAuth;
    const { secretFile, tls: peerSettings } = peers ?? {};
    this.#secrets = secretFile === undefined ? null : watchedPeerSecrets(secretFile, to);
    this.peerTls = peerSettings === undefined ? null : new PeerTls(peerSettings, logger, to.timers);
    this.clientTls = tls === null ? undefined : new ClientTls(tls, logger, to.timers);
    const users = sasl === null ? null : watchedUsers(sasl.usersFile, to.timers, logger);
    this.sasl = users === null ? undefined : new DigestMd5Server((user) => users.current.get(user));
    const followed = [this.#secrets, this.peerTls, this.clientTls ?? null, users];
    this.#followed = followed.filter((one) => one !== null);
  }

  /** By these members authenticate each other; they are read at each new link. */
  readonly peerSecrets = (): readonly Uint8Array[] => this.#secrets?.current ?? [];

  start(): void {
    for (const one of this.#followed) one.start();
  }

  close(): void {
    for (const one of this.#followed) one.close();
    this.#rateLimited.close();
  }
}

function watchedUsers(path: string, timers: Timers, logger: Logger) {
  return new WatchedFiles('sasl', [path], () => readSaslUsers(path), timers, logger);
}

/** Users of the config file, with the settings that have them. */
function passwordEntries({ adminUsers, adminReaders, superDigest }: Config) {
  const of = (setting: string, entries: readonly string[]) =>
    entries.map((entry) => ({ setting, entry }));
  return [
    ...of('adminUsers', adminUsers),
    ...of('adminReaders', adminReaders),
    ...of('superDigest', superDigest === null ? [] : [superDigest]),
  ];
}
