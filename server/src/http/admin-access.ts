/**
 * Decides who may use the admin port, and who may only read.
 *
 * A page in an administrator's browser must not reach it: a request whose Host is a name that the
 * member does not go by (DNS rebinding), or that a browser marks as coming from another site, is
 * refused. A proxy in front of the port has an origin of its own, which the configuration names.
 * With users configured each request must bring a password, as `Authorization: digest
 * user:password`, which is ZooKeeper's way, or as Basic. After wrong ones that user has to wait
 * (http-logins.ts). `X-Forwarded-For` is never believed.
 */
import { isIP } from 'node:net';
import { assert } from '@rookery/protocol';
import { isDigestOf } from '../config/digest-of.js';
import type { PasswordHashes } from '../security/password-hashes.js';
import type { HttpLogins } from './http-logins.js';
import { credentialsOf, passwordsOf } from './http-logins.js';
import { type Asking, HttpError } from './http-port.js';

/** Who may use the port, and under which names. */
interface AccessRules {
  /** As in the configuration; without users and readers, the port is open to all who reach it. */
  readonly users: readonly string[];
  /** Users who may only read. */
  readonly readers: readonly string[];
  /** Origins of proxies, as a browser names them: `https://name`, with a port if it is unusual. */
  readonly origins: readonly string[];
  /** Names beside addresses and localhost under which the port may be asked. */
  readonly hosts: readonly string[];
}

/** As whom a request was let in. */
export interface Admitted {
  /** The name of the user; null where the port has none. */
  readonly user: string | null;
  /** Whether that user may do more than read. */
  readonly mayChange: boolean;
}

/** A client that asks for passwords by itself, and wants no browser to do so. */
const OWN_CLIENT = 'rookery-console';
const NAMES_KNOWN =
  'use an address, localhost, or a host of this server in the config file; ' +
  'the origin of a proxy belongs in adminOrigins.';
const FOREIGN_PAGE =
  'Pages of other sites may not ask here. If this one is behind a proxy in front of the port, ' +
  'add its origin to adminOrigins.';

export class AdminAccess {
  readonly #rules: AccessRules;
  readonly #logins: HttpLogins | null;
  readonly #passwords: PasswordHashes | null;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  /**
   * `logins` counts wrong passwords; null for a port that has no users. `passwords` judges the
   * users and readers whose passwords are hashed by scrypt.
   */
  constructor(
    rules: AccessRules,
    logins: HttpLogins | null = null,
    passwords: PasswordHashes | null = null,
  ) {
    const { users, readers, origins } = rules;
    assert(logins !== null || users.length + readers.length === 0, 'logins of users are counted');
    this.#rules = rules;
    this.#logins = logins;
    this.#passwords = passwords;
    this.#origins = new Set(origins);
    const proxies = origins.map((origin) => hostName(new URL(origin).host) ?? '');
    const hosts = rules.hosts.map((host) => host.toLowerCase());
    this.#hosts = new Set(['localhost', ...hosts, ...proxies]);
  }

  /**
   * Computes what it takes to judge the passwords of a request, if anything; null if not. Rejects
   * with HttpError where too many wait for that. Called before `require`.
   */
  prepare({ headers, remoteAddress }: Asking): Promise<void> | null {
    const [passwords, logins] = [this.#passwords, this.#logins];
    if (passwords === null || logins === null) return null;
    const texts = passwordsOf(headers).filter((text) => !logins.mustWait(remoteAddress, text));
    const under = texts.map((text) => passwords.prepare(text, remoteAddress));
    const waited = under.filter((one) => one !== null);
    if (waited.length === 0) return null;
    return Promise.all(waited).then((outcomes) => {
      if (outcomes.every((isDone) => isDone)) return;
      throw new HttpError(503, 'Too many passwords are being checked.', { 'retry-after': '1' });
    });
  }

  /** Throws HttpError for a request that is not let in. */
  require(request: Asking): Admitted {
    const { headers } = request;
    this.#requireSameSite(request);
    const { users, readers } = this.#rules;
    if (users.length + readers.length === 0) return { user: null, mayChange: true };
    const given = credentialsOf(headers.authorization);
    if (given === null) throw unauthorized('A user and a password are needed.', headers);
    let mayChange = false;
    const isUser = () => {
      const isOf = (entries: readonly string[]) =>
        isAmong(entries, given) || this.#isHashAmong(entries, given, request.remoteAddress);
      mayChange = isOf(users);
      return isOf(readers) || mayChange;
    };
    if (this.#logins?.judge(request.remoteAddress, given, isUser) !== true) {
      throw unauthorized('No user has that password.', headers);
    }
    return { user: given.slice(0, given.indexOf(':')), mayChange };
  }

  #isHashAmong(entries: readonly string[], given: string, address: string): boolean {
    return entries.some((entry) => this.#passwords?.isRight(entry, given, address) === true);
  }

  #requireSameSite({ headers }: Asking): void {
    const { host = '', origin } = headers;
    const name = hostName(host);
    if (name === null || (isIP(name) === 0 && !this.#hosts.has(name))) {
      const asked = `This port is not asked for as "${host.slice(0, 100)}"`;
      throw new HttpError(421, `${asked}: ${NAMES_KNOWN}`);
    }
    const isForeign =
      origin !== undefined && origin !== `http://${host}` && !this.#origins.has(origin);
    const site = headers['sec-fetch-site'];
    if (isForeign || site === 'cross-site' || site === 'same-site') {
      throw new HttpError(403, FOREIGN_PAGE);
    }
  }
}

/** Takes the same time wherever in the list the user is. */
function isAmong(users: readonly string[], given: string): boolean {
  return users.reduce((isUser, user) => isDigestOf(user, given) || isUser, false);
}

/** Without its port, and an IPv6 address without its brackets. */
function hostName(host: string): string | null {
  const match = /^(?:\[([\da-f:.]+)\]|([^:[\]\s/]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2] ?? null)?.toLowerCase() ?? null;
}

/** A browser opens a prompt of its own for Basic, and for no scheme that it does not know. */
function unauthorized(message: string, headers: Asking['headers']): HttpError {
  const asksItself = headers['x-requested-with'] === OWN_CLIENT;
  const scheme = asksItself ? 'Rookery' : 'Basic';
  return new HttpError(401, message, { 'www-authenticate': `${scheme} realm="rookery"` });
}
