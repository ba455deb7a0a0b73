/**
 * A client that uses the read-only sessions of members without a quorum.
 *
 * It dials one member after another. Where it gets an ordinary session, it closes that and goes on;
 * where it gets a read-only one, it asks for reads, and for writes, which must be refused, until
 * the connection is closed. Its requests are not part of the history of the other clients: it
 * reports each answer separately. Created by Clients.
 */
import type { ByteStream, Timer } from '../../simulated.js';
import { PropertyBroken } from '../contract/checker.js';
import type { Invocation, Operation } from '../contract/history.js';
import type { Random } from '../random.js';
import type { ClientParts, Seat } from './client-parts.js';
import { type Welcome, WireConnection } from './wire-connection.js';
import { CANNOT_FAIL } from './works.js';

const DIAL_TIMEOUT_MS = 500;
const RETRY_MAX_MS = 150;
/** After an ordinary session, so that they are few. */
const SERVED_PAUSE_MS = 1_500;
const ASK_MAX_MS = 40;
const BURST_MAX = 6;
const SESSION_TIMEOUT_MS = 4_000;

export class ReadOnlyReader {
  readonly #number: number;
  readonly #random: Random;
  readonly #parts: ClientParts;
  #wire: WireConnection | null = null;
  #connection = 0;
  #member = 0;
  #session = 0;
  #seenZxid = 0;
  #isStopped = false;
  #next: Timer | null = null;
  #texts = 0;

  constructor(number: number, random: Random, parts: ClientParts) {
    this.#number = number;
    this.#random = random;
    this.#parts = parts;
  }

  start(): void {
    this.#dialWithin(RETRY_MAX_MS);
  }

  /** It asks for nothing more, for good. */
  stop(): void {
    this.#isStopped = true;
    this.#leave();
  }

  #dialWithin(ms: number): void {
    this.#later(ms, () => {
      const seat = this.#random.pick(this.#parts.members);
      const { host, port } = seat;
      this.#parts.transport.dial({ host, port }, DIAL_TIMEOUT_MS).then(
        (stream) => {
          if (this.#isStopped) stream.destroy();
          else this.#shakeHands(stream, seat);
        },
        () => this.#dialWithin(RETRY_MAX_MS),
      );
    });
  }

  #shakeHands(stream: ByteStream, { id }: Seat): void {
    const wire = new WireConnection(stream, {
      onWelcome: (welcome) => this.#onWelcome(wire, welcome),
      onReply: ({ operation }, result) => {
        this.#seenZxid = Math.max(this.#seenZxid, result.zxid);
        const [client, connection, member] = [this.#number, this.#connection, this.#member];
        this.#parts.recorder.readOnly({ client, connection, member, operation, result });
      },
      onEvent: ({ path }) => this.#onNonsense(`an event of ${path} in read-only mode`),
      onWatchesSet: () => undefined,
      onAuthenticated: () => undefined,
      onSessionClosed: () => this.#lost(SERVED_PAUSE_MS),
      onLost: () => this.#lost(RETRY_MAX_MS),
      onNonsense: (what) => this.#onNonsense(what),
    });
    this.#wire = wire;
    this.#member = id;
    this.#connection = this.#parts.nextConnection();
    const timeoutMs = SESSION_TIMEOUT_MS;
    wire.connect({ seenZxid: this.#seenZxid, timeoutMs, session: null, readOnly: true });
    this.#later(this.#parts.handshakeTimeoutMs, () => this.#lost(RETRY_MAX_MS));
  }

  #onWelcome(wire: WireConnection, welcome: Welcome): void {
    if (welcome.timeoutMs <= 0) return this.#lost(RETRY_MAX_MS);
    if (!welcome.isReadOnly) {
      wire.closeSession();
      wire.flush();
      return;
    }
    this.#session = welcome.session;
    this.#ask(wire);
  }

  #ask(wire: WireConnection): void {
    const count = 1 + this.#random.below(BURST_MAX);
    for (let asked = 0; asked < count; asked++) {
      const operation = this.#operation();
      const of = { client: this.#number, session: this.#session, connection: this.#connection };
      const atMs = this.#parts.timers.nowMs();
      const invocation: Invocation = { order: 0, atMs, ...of, operation };
      wire.ask(operation, invocation);
    }
    wire.flush();
    this.#later(ASK_MAX_MS, () => this.#ask(wire));
  }

  #operation(): Operation {
    const random = this.#random;
    const { count, registers } = this.#parts.options;
    const path = `/r/${random.below(registers)}`;
    const other = `/e/${1 + random.below(count)}-${random.below(4)}`;
    const data = `${this.#number}.${++this.#texts}`;
    const watch = random.chance(0.3);
    switch (random.below(10)) {
      case 0:
        return { kind: 'set', path, data, version: -1 };
      case 1:
        return { kind: 'create', path: other, data, mode: 'ephemeral' };
      case 2:
        return { kind: 'sync', path };
      case 3:
        return { kind: 'children', path: random.pick(CANNOT_FAIL), watch };
      case 4:
        return { kind: 'exists', path: other, watch };
      case 5:
        return { kind: 'ephemerals', path: '/' };
      case 6: {
        const [first, second] = [
          { kind: 'get', path } as const,
          { kind: 'get', path: other } as const,
        ];
        return { kind: 'multiRead', reads: [first, second, { kind: 'children', path: '/q' }] };
      }
      default:
        return { kind: 'get', path, watch };
    }
  }

  #lost(pauseMs: number): void {
    this.#leave();
    if (!this.#isStopped) this.#dialWithin(pauseMs);
  }

  #leave(): void {
    this.#next?.cancel();
    this.#wire?.leave();
    this.#wire?.destroy();
    this.#wire = null;
  }

  #later(ms: number, action: () => void): void {
    this.#next?.cancel();
    if (this.#isStopped) return;
    this.#next = this.#parts.timers.after(this.#random.below(ms + 1), action);
  }

  #onNonsense(what: string): void {
    const { recorder } = this.#parts;
    const where = `reader ${this.#number}, connection ${this.#connection} at ${recorder.order}`;
    recorder.broken ??= new PropertyBroken(
      'members speak the client protocol',
      `${where}: ${what}`,
    );
    this.#lost(RETRY_MAX_MS);
  }
}
