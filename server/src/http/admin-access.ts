/**
 * Who may use the admin port.
 *
 * A page in an administrator's browser must not reach it: a request whose Host is a name that the
 * member does not go by (DNS rebinding), or that a browser marks as coming from another site, is
 * refused. With users configured each request must bring a password, as `Authorization: digest
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
  /** As in the configuration; none: whoever reaches the port. */
  readonly users: readonly string[];
  /** Names beside addresses and localhost under which the port may be asked. */
  readonly hosts: readonly string[];
  /** Monotonic ms. */
  nowMs(): number;
}

export class AdminAccess {
  readonly #options: AdminAccessOptions;
  readonly #hosts: ReadonlySet<string>;
  #windowMs = Number.NEGATIVE_INFINITY;
  /** Of this window, by address. */
  readonly #failures = new Map<string, number>();

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
    if (this.#isUser(given)) return given.slice(0, given.indexOf(':'));
    this.#failures.set(address, failures + 1);
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
    const digest = Buffer.from(digestOf(given));
    let isUser = false;
    for (const user of this.#options.users) {
      const known = Buffer.from(user);
      if (known.length === digest.length && timingSafeEqual(known, digest)) isUser = true;
    }
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
