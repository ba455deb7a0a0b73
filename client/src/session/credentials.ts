/**
 * The auth packets, with which every connection begins, and the requests that wait for their
 * answers.
 *
 * A credential is kept from the moment it is added, and is sent on the current and on each later
 * connection. Answers arrive in the order of the packets.
 */
import { type AuthPacket, JuteReader, OpCode } from '@rookery/protocol';
import type { Call } from './call.js';
import type { Connection } from './connection.js';
import { type ErrorMaker, failWith, type Request } from './request.js';

export interface Credential {
  readonly scheme: string;
  readonly auth: Uint8Array;
}

interface Entry {
  readonly packet: AuthPacket;
  /** The request that the first answer settles, or null. */
  request: Request | null;
}

const NOTHING = new JuteReader(new Uint8Array(0));

export class Credentials {
  readonly #entries: Entry[] = [];
  /** The packets of the current connection that are not answered, in order. */
  #unanswered: Entry[] = [];
  #connection: Connection | null = null;

  constructor(initial: readonly Credential[]) {
    this.#entries = initial.map((credential) => entryOf(credential, null));
  }

  /** The request is settled by the first answer. */
  add(credential: Credential, request: Request): void {
    const entry = entryOf(credential, request);
    this.#entries.push(entry);
    if (this.#connection !== null) this.#send(entry, this.#connection);
  }

  /** Sends all credentials. Answers on an earlier connection are no longer expected. */
  attach(connection: Connection): void {
    this.#unanswered = [];
    this.#connection = connection;
    for (const entry of this.#entries) this.#send(entry, connection);
  }

  detach(): void {
    this.#connection = null;
  }

  onAccepted(): void {
    const entry = this.#unanswered.shift();
    if (entry === undefined) return;
    entry.request?.succeed(NOTHING);
    entry.request = null;
  }

  failAll(make: ErrorMaker): void {
    for (const entry of this.#entries) {
      if (entry.request !== null) failWith(entry.request, make);
      entry.request = null;
    }
  }

  #send(entry: Entry, connection: Connection): void {
    this.#unanswered.push(entry);
    connection.sendAuth(entry.packet);
  }
}

/**
 * The call whose request is settled when a credential is accepted. It is never sent as a request
 * itself.
 */
export const AUTH_CALL: Call<void> = {
  opcode: OpCode.auth,
  path: undefined,
  isWrite: false,
  write: () => undefined,
  read: () => undefined,
};

function entryOf(credential: Credential, request: Request | null): Entry {
  const packet = { type: 0, scheme: credential.scheme, auth: Buffer.from(credential.auth) };
  return { packet, request };
}
