/**
 * Who may use the admin port, and who of them may only read.
 *
 * A page in an administrator's browser must not reach it: a request whose Host is a name that the
 * member does not go by (DNS rebinding), or that a browser marks as coming from another site, is
 * refused. A proxy in front of the port has an origin of its own, which the configuration names.
 * With users configured each request must bring a password, as `Authorization: digest
 * user:password`, which is ZooKeeper's way, or as Basic. Wrong ones are counted by address: past
 * FAILURES_MAX in a second none from there is looked at until the next. `X-Forwarded-For` is never
 * believed.
 */
import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { digestOf } from '../digest-of.js';
import { credentialsOf } from './credentials.js';
import { HttpError } from './http-error.js';
import type { HttpRequest } from './http-port.js';

export const FAILURES_MAX = 20;
const WINDOW_MS = 1000;
/** Addresses that are counted by themselves; others are counted together. */
const ADDRESSES_MAX = 1000;
const OTHERS = '';

export interface AdminAccessOptions {
  /** As in the configuration; without any, and without readers, it is whoever reaches the port. */
  readonly users: readonly string[];
  /** Users who may only read. */
  readonly readers: readonly string[];
  /** Origins of proxies, as a browser names them: `https://name`, with a port if it is unusual. */
  readonly origins: readonly string[];
  /** Names beside addresses and localhost under which the port may be asked. */
  readonly hosts: readonly string[];
  /** Monotonic ms. */
  nowMs(): number;
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

export class AdminAccess {
  readonly #options: AdminAccessOptions;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  #windowMs = Number.NEGATIVE_INFINITY;
  /** Of this window, by address. */
  readonly #failures = new Map<string, number>();

  constructor(options: AdminAccessOptions) {
    this.#options = options;
    this.#origins = new Set(options.origins);
    const proxies = options.origins.map((origin) => hostName(new URL(origin).host) ?? '');
    const hosts = options.hosts.map((host) => host.toLowerCase());
    this.#hosts = new Set(['localhost', ...hosts, ...proxies]);
  }

  /** Throws HttpError for a request that is not let in. */
  require(request: Pick<HttpRequest, 'headers' | 'remoteAddress'>): Admitted {
    const { headers } = request;
    this.#requireSameSite(request);
    const { users, readers } = this.#options;
    if (users.length + readers.length === 0) return { user: null, mayChange: true };
    const given = credentialsOf(headers.authorization);
    if (given === null) throw unauthorized('A user and a password are needed.', headers);
    const nowMs = this.#options.nowMs();
    if (nowMs - this.#windowMs >= WINDOW_MS) {
      this.#windowMs = nowMs;
      this.#failures.clear();
    }
    const { remoteAddress } = request;
    const isCounted = this.#failures.has(remoteAddress) || this.#failures.size < ADDRESSES_MAX;
    const address = isCounted ? remoteAddress : OTHERS;
    const failures = this.#failures.get(address) ?? 0;
    if (failures >= FAILURES_MAX) {
      throw new HttpError(429, 'Too many wrong passwords; try again in a second.', {
        'retry-after': '1',
      });
    }
    const user = given.slice(0, given.indexOf(':'));
    const [mayChange, mayRead] = [isAmong(users, given), isAmong(readers, given)];
    if (mayChange || mayRead) return { user, mayChange };
    this.#failures.set(address, failures + 1);
    throw unauthorized('No user has that password.', headers);
  }

  #requireSameSite({ headers }: Pick<HttpRequest, 'headers'>): void {
    const { host = '', origin } = headers;
    const name = hostName(host);
    if (name === null || (isIP(name) === 0 && !this.#hosts.has(name))) {
      throw new HttpError(421, `This port is not asked for as "${host.slice(0, 100)}".`);
    }
    const isForeign =
      origin !== undefined && origin !== `http://${host}` && !this.#origins.has(origin);
    const site = headers['sec-fetch-site'];
    if (isForeign || site === 'cross-site' || site === 'same-site') {
      throw new HttpError(403, 'Pages of other sites may not ask here.');
    }
  }
}

/** Takes the same time wherever in the list the user is. */
function isAmong(users: readonly string[], given: string): boolean {
  const digest = Buffer.from(digestOf(given));
  let isUser = false;
  for (const user of users) {
    const known = Buffer.from(user);
    if (known.length === digest.length && timingSafeEqual(known, digest)) isUser = true;
  }
  return isUser;
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
