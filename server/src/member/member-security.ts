/**
 * What a member needs to prove who it is, and to judge clients and other members: certificates,
 * secrets and users from the files that its config names.
 *
 * Everything that is wrong with these files is found when it is made, before the member does
 * anything. From `start` on, the files are followed while they change.
 */
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { RateLimitedLog } from '../net/rate-limited-log.js';
import { systemTimers } from '../net/timers.js';
import { ClientTls, PeerTls } from '../net/watched-tls.js';
import { DigestMd5Server, readSaslUsers } from '../security/digest-md5.js';
import { LoginDelays } from '../security/login-delays.js';
import { isScryptEntry, PasswordHashes } from '../security/password-hashes.js';
import { watchedPeerSecrets } from '../security/peer-secrets.js';
import { WatchedFiles } from '../security/watched-files.js';
import { rootAclOf } from './root-acl.js';
import type { Surroundings } from './surroundings.js';

interface Followed {
  start(): void;
  close(): void;
}

export class MemberSecurity {
  readonly surroundings: Pick<Surroundings, 'clientTls' | 'peerTls' | 'peerSecrets' | 'sasl'>;
  /** Shared by all ports at which somebody logs in. */
  readonly logins: LoginDelays;
  /** Those of the config file that are hashed by scrypt; shared likewise. */
  readonly passwords: PasswordHashes;
  readonly #rateLimited: RateLimitedLog;
  readonly #followed: readonly Followed[];

  /** Throws OperatorError with a sentence that names the file or the setting. */
  constructor(config: Config, logger: Logger) {
    const { tls, sasl, peerAuth, servers } = config;
    // Used when an ensemble is founded; what is wrong with it is said at once.
    rootAclOf(config);
    const to = { logger, timers: systemTimers() };
    this.#rateLimited = new RateLimitedLog(logger, to.timers);
    this.logins = new LoginDelays({
      onDelay: (failure) => this.#rateLimited.warn('login.delayed', { ...failure }),
    });
    const entries = passwordEntries(config);
    this.passwords = new PasswordHashes(entries.map(({ entry }) => entry));
    const fast = entries.filter(({ entry }) => !isScryptEntry(entry)).map(({ setting }) => setting);
    if (fast.length > 0) logger.warn({ settings: [...new Set(fast)] }, 'config.fast_digests');
    // Nobody dials a member that is alone.
    const peers = peerAuth === 'none' || servers.length === 1 ? null : peerAuth;
    const { secretFile, tls: peerSettings } = peers ?? {};
    const secrets = secretFile === undefined ? null : watchedPeerSecrets(secretFile, to);
    const peerTls =
      peerSettings === undefined ? null : new PeerTls(peerSettings, logger, to.timers);
    const clientTls = tls === null ? null : new ClientTls(tls, logger, to.timers);
    const users = sasl === null ? null : watchedUsers(sasl.usersFile, to);
    this.#followed = [secrets, peerTls, clientTls, users].filter((one) => one !== null);
    this.surroundings = {
      peerTls,
      ...(secrets === null ? {} : { peerSecrets: () => secrets.current }),
      ...(clientTls === null ? {} : { clientTls }),
      ...(users === null ? {} : { sasl: new DigestMd5Server((user) => users.current.get(user)) }),
    };
  }

  start(): void {
    for (const one of this.#followed) one.start();
  }

  close(): void {
    for (const one of this.#followed) one.close();
    this.#rateLimited.close();
  }
}

type Watch = Pick<ConstructorParameters<typeof WatchedFiles>[0], 'logger' | 'timers'>;

function watchedUsers(path: string, to: Watch): WatchedFiles<ReadonlyMap<string, string>> {
  return new WatchedFiles({ name: 'sasl', paths: [path], load: () => readSaslUsers(path), ...to });
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
