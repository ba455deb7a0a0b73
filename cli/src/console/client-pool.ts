/**
 * The client sessions of the gateway: one for each set of identities that callers bring.
 *
 * A session cannot give up an identity, so callers with different ones never share a session. Each
 * also has the gateway's own credentials. How many there are is bounded; one that nobody has used
 * for a while is closed, and so is the one that has been idle for longest when another is needed.
 */
import type { Client } from '@rookery/client';
import { DIGEST_ALGS } from '@rookery/protocol';
import { type Caller, digestOf, HttpError, type Requester } from '@rookery/server/http';
import { openClient, type Target } from '../command/target.js';
import { asProblem } from './keeper-problem.js';

export const SESSIONS_MAX = 16;
export const IDLE_MS = 60_000;

/** A client that one request may use until it releases it. */
export interface Leased {
  readonly client: Client;
  /** With what the servers say of the session: its address, and whether it is the super user's. */
  readonly requester: Requester;
  release(): void;
}

interface Session {
  readonly opening: Promise<{ readonly client: Client; readonly requester: Requester }>;
  /** Null while it is being opened. */
  client: Client | null;
  users: number;
  idle: NodeJS.Timeout | null;
}

/** Opens a client with further credentials of scheme digest; tests pass their own. */
type OpenGatewayClient = (auths: readonly Uint8Array[]) => Promise<Client>;

export class ClientPool {
  readonly #open: OpenGatewayClient;
  /** What the gateway's own credentials of scheme digest prove. */
  readonly #own: Requester['identities'];
  readonly #sessions = new Map<string, Session>();

  constructor(open: OpenGatewayClient, own: Requester['identities'] = []) {
    this.#open = open;
    this.#own = own;
  }

  /** The sessions that are open or opening. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Throws HttpError. */
  async lease(caller: Caller): Promise<Leased> {
    const { auths, requester } = caller;
    const key = auths
      .map((auth) => Buffer.from(auth).toString('base64'))
      .sort()
      .join(',');
    const known = this.#sessions.get(key);
    // A client closes by itself when the servers refuse its identities at a later connection.
    const isOver = known?.client?.state === 'closed';
    if (isOver) this.#sessions.delete(key);
    const session = isOver || known === undefined ? this.#add(key, auths, requester) : known;
    session.users += 1;
    if (session.idle !== null) clearTimeout(session.idle);
    session.idle = null;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      session.users -= 1;
      if (session.users > 0 || this.#sessions.get(key) !== session) return;
      // The one that became idle last is the last one.
      this.#sessions.delete(key);
      this.#sessions.set(key, session);
      session.idle = setTimeout(() => this.#close(key), IDLE_MS);
      session.idle.unref();
    };
    try {
      return { ...(await asProblem(() => session.opening)), release };
    } catch (error) {
      // The next one tries again.
      if (this.#sessions.get(key) === session) this.#sessions.delete(key);
      release();
      throw error;
    }
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    const keys = [...this.#sessions.keys()];
    await Promise.all(keys.map((key) => this.#close(key)));
  }

  #add(key: string, auths: readonly Uint8Array[], requester: Requester): Session {
    if (this.#sessions.size >= SESSIONS_MAX) {
      const idle = [...this.#sessions].find(([, { users }]) => users === 0);
      if (idle === undefined) {
        throw new HttpError(503, 'Too many people ask at the moment.', { 'retry-after': '5' });
      }
      void this.#close(idle[0]);
    }
    const opening = this.#open(auths).then(async (client) => {
      try {
        return { client, requester: await withServerIdentities(client, requester, this.#own) };
      } catch (error) {
        await client.close();
        throw error;
      }
    });
    const session: Session = { opening, client: null, users: 0, idle: null };
    opening.then(
      ({ client }) => {
        session.client = client;
      },
      // Its callers get the failure.
      () => undefined,
    );
    this.#sessions.set(key, session);
    return session;
  }

  async #close(key: string): Promise<void> {
    const session = this.#sessions.get(key);
    this.#sessions.delete(key);
    if (session === undefined) return;
    if (session.idle !== null) clearTimeout(session.idle);
    const opened = await session.opening.catch(() => null);
    await opened?.client.close();
  }
}

export function gatewayClients(target: Target): OpenGatewayClient {
  return (auths) => {
    const more = auths.map((auth) => ({ scheme: 'digest', auth: Buffer.from(auth).toString() }));
    const auth = [...target.auth, ...more];
    return openClient({ ...target, auth }, { name: 'console' });
  };
}

/** By every algorithm, because it is not known which one the servers take. */
export function ownDigests({ auth }: Target): Requester['identities'] {
  return auth
    .filter(({ scheme }) => scheme === 'digest')
    .flatMap(({ auth: text }) => {
      return DIGEST_ALGS.map((algorithm) => ({ scheme: 'digest', id: digestOf(text, algorithm) }));
    });
}

/** Digests of passwords are known here; of all else, only the servers know what it has become. */
async function withServerIdentities(
  client: Client,
  requester: Requester,
  own: Requester['identities'],
): Promise<Requester> {
  const told = await client.whoAmI().catch(() => []);
  const others = told
    .filter(({ authScheme }) => authScheme !== 'digest')
    .map(({ authScheme: scheme, user }) => ({ scheme, id: scheme === 'super' ? '' : user }));
  return { ...requester, identities: [...requester.identities, ...own, ...others] };
}
