/**
 * Who may use the admin port.
 *
 * A page in an administrator's browser must not reach it: a request whose Host is a name that the
 * member does not go by (DNS rebinding), or that a browser marks as coming from another site, is
 * refused. With users configured each request must bring a password, as `Authorization: digest
 * user:password`, which is ZooKeeper's way, or as Basic. After wrong ones its address has to wait
 * (http-logins.ts). `X-Forwarded-For` is never believed.
 */
import { isIP } from 'node:net';
import { isDigestOf } from '../digest-of.js';
import { credentialsOf } from './credentials.js';
import { HttpError } from './http-error.js';
import type { HttpLogins } from './http-logins.js';
import type { HttpRequest } from './http-port.js';

export interface AdminAccessOptions {
  /** As in the configuration; none: whoever reaches the port. */
  readonly users: readonly string[];
  /** Names beside addresses and localhost under which the port may be asked. */
  readonly hosts: readonly string[];
  readonly logins: HttpLogins;
}

export class AdminAccess {
  readonly #options: AdminAccessOptions;
  readonly #hosts: ReadonlySet<string>;

  constructor(options: AdminAccessOptions) {
    this.#options = options;
    this.#hosts = new Set(['localhost', ...options.hosts.map((host) => host.toLowerCase())]);
  }

  /** The user's name, null where there are no users. Throws HttpError. */
  require(request: Pick<HttpRequest, 'headers' | 'remoteAddress'>): string | null {
    this.#requireSameSite(request);
    if (this.#options.users.length === 0) return null;
    const given = credentialsOf(request.headers.authorization);
    if (given === null) throw unauthorized('A user and a password are needed.');
    const isUser = this.#options.logins.judge(request.remoteAddress, given, () =>
      this.#isUser(given),
    );
    if (isUser) return given.slice(0, given.indexOf(':'));
    throw unauthorized('No user has that password.');
  }

  #requireSameSite({ headers }: Pick<HttpRequest, 'headers'>): void {
    const { host = '', origin } = headers;
    const name = hostName(host);
    if (name === null || (isIP(name) === 0 && !this.#hosts.has(name))) {
      throw new HttpError(421, `This port is not asked for as "${host.slice(0, 100)}".`);
    }
    const isForeign = origin !== undefined && origin !== `http://${host}`;
    const site = headers['sec-fetch-site'];
    if (isForeign || site === 'cross-site' || site === 'same-site') {
      throw new HttpError(403, 'Pages of other sites may not ask here.');
    }
  }

  #isUser(given: string): boolean {
    let isUser = false;
    // All of them, so that the time tells nothing.
    for (const user of this.#options.users) if (isDigestOf(user, given)) isUser = true;
    return isUser;
  }
}

/** Without its port, and an IPv6 address without its brackets. */
function hostName(host: string): string | null {
  const match = /^(?:\[([\da-f:.]+)\]|([^:[\]\s/]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2] ?? null)?.toLowerCase() ?? null;
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, message, { 'www-authenticate': 'Basic realm="rookery"' });
}
