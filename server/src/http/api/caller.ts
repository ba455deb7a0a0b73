/**
 * As whom a request reads and writes data: identities of ZooKeeper, so that ACLs hold as they do
 * for a client.
 *
 * The password of `Authorization` (Basic, or ZooKeeper's `digest`) is an identity of scheme digest,
 * and so is each of `X-Rookery-Auth`, in base64 and separated by commas, for a user of the port who
 * is another one in the tree. The super user's is the super user. There is no identity of scheme
 * ip: behind a proxy the address says nothing of the caller.
 */
import { AuthPacket, type DigestAlg, encode } from '@rookery/protocol';
import { digestOf } from '../../config/digest-of.js';
import type { Identities, Requester } from '../../pipeline/access.js';
import { Authenticator, type SuperPassword } from '../../pipeline/identities.js';
import { addressGroup } from '../../security/address-group.js';
import type { Admitted } from '../admin-access.js';
import type { Asker } from '../admin-audit.js';
import type { HttpLogins } from '../http-logins.js';
import { AUTH_HEADER, AUTHS_MAX, credentialsOf } from '../http-logins.js';
import type { Asking } from '../http-port.js';
import { badRequest } from './problem.js';

export interface Caller extends Admitted {
  readonly remoteAddress: string;
  readonly requester: Requester;
  /** Each `user:password`, as a client would send it. */
  readonly auths: readonly Uint8Array[];
}

/** All requests of a user from one network count as one asker. */
export function askerOf({ user, remoteAddress }: Asker): string {
  return `${user ?? ''}@${addressGroup(remoteAddress)}`;
}

interface CallerRules {
  readonly digestAlgs?: readonly DigestAlg[];
  readonly superDigest: string | null;
  readonly superIdentities: ReadonlySet<string>;
  readonly skipAcl: boolean;
  /** See `AuthenticatorParts`. */
  readonly superPassword?: SuperPassword | null;
}

export class Callers {
  readonly #authenticator: Authenticator;
  readonly #rules: CallerRules;
  readonly #logins: HttpLogins | null;

  /** `logins` counts wrong passwords of super users; null where there are none. */
  constructor(rules: CallerRules, logins: HttpLogins | null = null) {
    this.#rules = rules;
    this.#logins = logins;
    this.#authenticator = new Authenticator({ ...rules, digestOf });
  }

  /** Throws HttpError. */
  callerOf(request: Asking, admitted: Admitted): Caller {
    const { headers, remoteAddress } = request;
    const auths = authsOf(headers);
    let identities: Identities = [];
    for (const auth of auths) {
      const body = encode(AuthPacket, { type: 0, scheme: 'digest', auth });
      const gained = this.#authenticator.authenticate(body, identities, remoteAddress);
      const text = Buffer.from(auth).toString('utf8');
      if (gained !== null && this.#authenticator.namesSuper(text)) {
        this.#logins?.judge(remoteAddress, text, () => !gained.isWrongSuper);
      }
      if (gained === null) throw badRequest('There are too many or too long identities.');
      identities = gained.identities;
    }
    const { skipAcl } = this.#rules;
    return { ...admitted, remoteAddress, auths, requester: { identities, skipAcl } };
  }
}

function authsOf(headers: Asking['headers']): readonly Uint8Array[] {
  const own = credentialsOf(headers.authorization);
  const given = headers[AUTH_HEADER];
  const listed = typeof given === 'string' ? given.split(',') : [];
  const more = listed.map((one) => Buffer.from(one.trim(), 'base64'));
  if (more.some((one) => !one.includes(':'))) {
    throw badRequest(`${AUTH_HEADER}: expected base64 of user:password.`);
  }
  const all = own === null ? more : [Buffer.from(own), ...more];
  if (all.length > AUTHS_MAX) throw badRequest(`${AUTH_HEADER}: expected ${AUTHS_MAX} at most.`);
  return all;
}
