/**
 * Who may use the admin port, and who of them may only read.
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
import type { HttpRequest } from './http-port.js';
import { HttpError } from './http-port.js';

interface AdminAccessOptions {
  /** As in the configuration; without any, and without readers, it is whoever reaches the port. */
  readonly users: readonly string[];
  /** Users who may only read. */
  readonly readers: readonly string[];
  /** Origins of proxies, as a browser names them: `https://name`, with a port if it is unusual. */
  readonly origins: readonly string[];
  /** Names beside addresses and localhost under which the port may be asked. */
  readonly hosts: readonly string[];
  /** Counts wrong passwords; null for a port that has no users. */
  readonly logins: HttpLogins | null;
  /** Judges those of `users` and `readers` whose passwords are hashed by scrypt. */
  readonly passwords?: PasswordHashes;
}

type Asking = Pick<HttpRequest, 'headers' | 'remoteAddress'>;

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
  readonly #options: AdminAccessOptions;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  constructor(options: AdminAccessOptions) {
    const { users, readers, logins } = options;
    assert(logins !== null || users.length + readers.length === 0, 'logins of users are counted');
    this.#options = options;
    this.#origins = new Set(options.origins);
    const proxies = options.origins.map((origin) => hostName(new URL(origin).host) ?? '');
    const hosts = options.hosts.map((host) => host.toLowerCase());
    this.#hosts = new Set(['localhost', ...hosts, ...proxies]);
  }

  /**
   * Computes what it takes to judge the passwords of a request, if anything; null if not. Rejects
   * with HttpError where too many wait for that. Called before `require`.
   */
  prepare({ headers, remoteAddress }: Asking): Promise<void> | null {
    const { passwords, logins } = this.#options;
    if (passwords === undefined || logins === null) return null;
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
    const { users, readers, logins } = this.#options;
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
    if (logins?.judge(request.remoteAddress, given, isUser) !== true) {
      throw unauthorized('No user has that password.', headers);
    }
    return { user: given.slice(0, given.indexOf(':')), mayChange };
  }

  #isHashAmong(entries: readonly string[], given: string, address: string): boolean {
    const { passwords } = this.#options;
    return entries.some((entry) => passwords?.isRight(entry, given, address) === true);
  }

  #requireSameSite({ headers }: Pick<HttpRequest, 'headers'>): void {
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
function unauthorized(message: string, headers: HttpRequest['headers']): HttpError {
  const asksItself = headers['x-requested-with'] === OWN_CLIENT;
  const scheme = asksItself ? 'Rookery' : 'Basic';
  return new HttpError(401, message, { 'www-authenticate': `${scheme} realm="rookery"` });
}
