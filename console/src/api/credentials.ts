/**
 * As whom the console asks: a user of the admin port, and further identities in the tree.
 *
 * They are kept in memory; only if the person wishes so are they in sessionStorage, which ends with
 * the tab. Nothing of them is ever in an address.
 */
import { base64Of } from '../ui/bytes.js';

export interface Credentials {
  /** `user:password` of the admin port; null for none. */
  readonly user: string | null;
  /** Each `user:password`, scheme digest. */
  readonly identities: readonly string[];
}

export const NOBODY: Credentials = { user: null, identities: [] };
/** Each console has its own: below another prefix of one origin there may be other servers. */
const KEY = `rookery-console-credentials ${globalThis.location?.pathname ?? ''}`;

/** The headers that tell the server who asks. */
export function headersOf({ user, identities }: Credentials): Readonly<Record<string, string>> {
  const bytes = (text: string) => base64Of(new TextEncoder().encode(text));
  return {
    // With it the server does not make the browser ask for a password by itself.
    'X-Requested-With': 'rookery-console',
    ...(user === null ? {} : { Authorization: `Basic ${bytes(user)}` }),
    ...(identities.length === 0 ? {} : { 'X-Rookery-Auth': identities.map(bytes).join(',') }),
  };
}

export function storedCredentials(): Credentials {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
    return isCredentials(value) ? value : NOBODY;
  } catch {
    // The storage may be switched off, or hold what another version wrote.
    return NOBODY;
  }
}

/** Null forgets them. */
export function storeCredentials(credentials: Credentials | null): void {
  try {
    if (credentials === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(credentials));
  } catch {
    // Without storage the credentials last as long as the page, which is what is promised.
  }
}

function isCredentials(value: unknown): value is Credentials {
  if (typeof value !== 'object' || value === null) return false;
  const { user, identities } = value as Partial<Credentials>;
  const isUser = user === null || typeof user === 'string';
  return isUser && Array.isArray(identities) && identities.every((one) => typeof one === 'string');
}
