/**
 * Credentials that come with HTTP requests, and how long a user of an address waits after wrong
 * ones.
 *
 * A request carries `Authorization: digest user:password`, which is ZooKeeper's way, or Basic, and
 * may add more identities in AUTH_HEADER. The delays are those of the client port
 * (`security/login-delays.ts`): failures at either port count at both. While a user has to wait, no
 * password is checked, and the answer says how long. A password that was right from that address
 * before is still accepted, so a client that guesses behind the same proxy does not lock out the
 * owner. Only keyed digests of those are kept, and a bounded number of them.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { addressGroup } from '../security/address-group.js';
import type { LoginDelays } from '../security/login-delays.js';
import { HttpError, type HttpRequest } from './http-port.js';

const KNOWN_MAX = 1_000;

export class HttpLogins {
  readonly #delays: LoginDelays;
  readonly #nowMs: () => number;
  /** Called for each attempt that is refused. */
  readonly #onFailure: (address: string) => void;
  readonly #key = randomBytes(32);
  /** Addresses with their passwords, in the order in which they came last. */
  readonly #known = new Set<string>();

  /** `nowMs` is monotonic. */
  constructor(
    delays: LoginDelays,
    nowMs: () => number,
    onFailure: (address: string) => void = () => undefined,
  ) {
    this.#onFailure = onFailure;
    this.#delays = delays;
    this.#nowMs = nowMs;
  }

  /** Whether the password is not looked at now, because earlier ones of its user were wrong. */
  mustWait(address: string, userAndPassword: string): boolean {
    const origin = { address, user: userAndPassword.split(':', 1)[0] ?? '' };
    if (this.#delays.waitMs(origin, this.#nowMs()) === 0) return false;
    return !this.#known.has(this.#keyOf(address, userAndPassword));
  }

  /** Returns what `isRight` says. Throws HttpError 429 while the user has to wait there. */
  judge(address: string, userAndPassword: string, isRight: () => boolean): boolean {
    const nowMs = this.#nowMs();
    const origin = { address, user: userAndPassword.split(':', 1)[0] ?? '' };
    const waitMs = this.#delays.waitMs(origin, nowMs);
    const key = this.#keyOf(address, userAndPassword);
    if (waitMs > 0 && !this.#known.has(key)) {
      this.#delays.noteDelayed();
      this.#onFailure(address);
      const seconds = Math.ceil(waitMs / 1000);
      throw new HttpError(429, `Too many wrong passwords; try again in ${seconds} s.`, {
        'retry-after': `${seconds}`,
      });
    }
    if (!isRight()) {
      // It was right before, and is not any more.
      this.#known.delete(key);
      this.#delays.failed(origin, nowMs);
      this.#onFailure(address);
      return false;
    }
    this.#remember(key);
    return true;
  }

  #remember(key: string): void {
    this.#known.delete(key);
    this.#known.add(key);
    if (this.#known.size <= KNOWN_MAX) return;
    for (const oldest of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }

  #keyOf(address: string, userAndPassword: string): string {
    const text = `${addressGroup(address)}\n${userAndPassword}`;
    return createHmac('sha256', this.#key).update(text).digest('base64');
  }
}

/** The number of identities that one request may bring. */
export const AUTHS_MAX = 8;

/** `user:password` of the header; null for none. */
export function credentialsOf(header: string | undefined): string | null {
  const [, scheme = '', rest = ''] = /^(digest|basic)\s(.+)$/i.exec(header ?? '') ?? [];
  const proof = rest.trimStart();
  const text = scheme.toLowerCase() === 'basic' ? Buffer.from(proof, 'base64').toString() : proof;
  return text.includes(':') ? text : null;
}

/**
 * What a request of HTTP brings to say who asks: `Authorization: digest user:password`, which is
 * ZooKeeper's way, or Basic.
 */
export const AUTH_HEADER = 'x-rookery-auth';

/** Each `user:password` that a request brings; what is malformed is refused where it is read. */
export function passwordsOf(headers: HttpRequest['headers']): readonly string[] {
  const own = credentialsOf(headers.authorization);
  const given = headers[AUTH_HEADER];
  const listed = typeof given === 'string' ? given.split(',', AUTHS_MAX) : [];
  const more = listed.map((one) => Buffer.from(one.trim(), 'base64').toString('utf8'));
  return own === null ? more : [own, ...more];
}
