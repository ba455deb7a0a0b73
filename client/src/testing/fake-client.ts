/**
 * A client of a FakeServer, for unit tests of code that uses the `Client` interface.
 *
 * While connected, an operation is applied synchronously with its call; otherwise it waits for a
 * connection. Replies and events arrive one per turn of the event loop, in the order of the server.
 * To simulate that an operation was applied but its reply was lost, call it and then
 * `loseConnection()`, or use `failNext(op, 'reply-lost')`. After the loss of a connection or
 * session the client reconnects in the next turn, unless `comesBack` is false; then `comeBack()`
 * reconnects it. It is deterministic and only for tests.
 */
import {
  AddWatchMode,
  ConnectionLossError,
  Fifo,
  type KeeperError,
  SessionExpiredError,
} from '@rookery/protocol';
import type { AddWatchOptions, WatchHandle } from '../api/client.js';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import type { Log, Logger } from '../api/logger.js';
import type { Surroundings } from '../api/surroundings.js';
import type {
  ClientState,
  OperationOptions,
  Session,
  SessionLossCause,
  StateChange,
  Watcher,
} from '../api/values.js';
import { ClientLog } from '../defaults/log.js';
import { WatchRegistry } from '../watches/watch-registry.js';
import { caughtUp } from './fake-catch-up.js';
import { FakeOperations, type FakeRequest, type Sent } from './fake-operations.js';
import { limit, outcomeOf, type Pending } from './fake-pending.js';
import { type FakeChange, FakeServer } from './fake-server.js';
import { FakeSurroundings } from './fake-surroundings.js';

/**
 * The failure of a request: its connection is lost before or after it was applied, or it is refused
 * with an error.
 */
export type Fault = 'request-lost' | 'reply-lost' | KeeperError;

export interface FakeClientOptions {
  readonly surroundings?: Surroundings;
  readonly comesBack?: boolean;
  readonly sessionTimeoutMs?: number;
  readonly logger?: Logger;
}

export class FakeClient extends FakeOperations {
  override readonly name = 'fake';
  override readonly log: Log;
  override readonly surroundings: Surroundings;
  /** Whether a lost connection or session is replaced automatically. */
  comesBack: boolean;
  /** All requests that were sent, in order. */
  readonly sent: Sent[] = [];
  /** Called right before a request is applied, to let others act just before it. */
  onSend: ((sent: Sent) => void) | null = null;
  readonly #server: FakeServer;
  readonly #timeoutMs: number;
  readonly #registry = new WatchRegistry();
  readonly #faults: { readonly op: string; readonly fault: Fault }[] = [];
  readonly #listeners = new Set<(change: StateChange) => void>();
  readonly #stopListening: () => void;
  /** The requests that are not sent yet, and those that are sent and not answered. */
  #queued: Pending[] = [];
  readonly #inFlight = new Set<Pending>();
  /** Replies and events on their way to the client. */
  readonly #inbound = new Fifo<() => void>();
  #connection = 0;
  #state: ClientState = 'connecting';
  #session: { readonly session: Session; readonly over: AbortController } | null = null;
  #lastZxidSeen = 0n;

  /** Creates a client that is already connected. */
  constructor(server: FakeServer = new FakeServer(), options: FakeClientOptions = {}) {
    super();
    this.#server = server;
    this.surroundings = options.surroundings ?? new FakeSurroundings();
    this.log = new ClientLog({ logger: options.logger ?? null, name: this.name });
    this.comesBack = options.comesBack ?? true;
    this.#timeoutMs = options.sessionTimeoutMs ?? 10_000;
    this.#stopListening = server.onChange((change) => this.#onChange(change));
    this.#openSession();
  }

  override get fake(): FakeServer {
    return this.#server;
  }

  override get state(): ClientState {
    return this.#state;
  }

  override get session(): Session | null {
    return this.#session?.session ?? null;
  }

  override get server(): string | null {
    return this.#state === 'connected' ? 'fake:2181' : null;
  }

  override get lastZxidSeen(): bigint {
    return this.#lastZxidSeen;
  }

  override get outstandingCount(): number {
    return this.#queued.length + this.#inFlight.size;
  }

  override get watches(): WatchRegistry {
    return this.#registry;
  }

  /** Lets the next `count` requests of the method fail in this way. */
  failNext(op: string, fault: Fault, count = 1): void {
    for (let index = 0; index < count; index++) this.#faults.push({ op, fault });
  }

  /** The number of requests of the method that were sent. */
  sentCount(op: string): number {
    return this.sent.filter((sent) => sent.op === op).length;
  }

  /** Requests in flight fail and queued ones wait; the session lives. */
  loseConnection(): void {
    if (this.#state !== 'connected') return;
    this.#dropConnection();
    this.#setState('suspended', { error: new ConnectionLossError() });
    this.#failInFlight((path, ambiguous) => new ConnectionLossError(path, { ambiguous }));
    if (this.comesBack) setImmediate(() => this.comeBack());
  }

  /** The server ends the session, and the client learns of it at once. */
  expire(): void {
    const { session } = this;
    if (session === null) return;
    this.#server.endSession(session.id);
    this.#lose('ended');
  }

  /**
   * The client considers the session lost; its ephemeral znodes remain until the server expires it.
   */
  loseSession(): void {
    this.#lose('silence');
  }

  #lose(lossCause: SessionLossCause): void {
    const lost = this.#session;
    if (lost === null) return;
    this.#dropConnection();
    this.#session = null;
    const error = new SessionExpiredError();
    lost.over.abort(error);
    const sessionId = lost.session.id;
    this.#setState('lost', { error, sessionId, lossCause });
    const expired = (path: string, ambiguous: boolean) =>
      new SessionExpiredError(path, { ambiguous });
    this.#failInFlight(expired);
    for (const pending of this.#queued.splice(0)) pending.reject(expired(pending.path, false));
    this.#registry.onSessionLost();
    if (this.comesBack) setImmediate(() => this.comeBack());
  }

  /** Resumes the session, or opens another one if there is none or the server has ended it. */
  comeBack(): void {
    if (this.#state === 'closed' || this.#state === 'connected') return;
    if (this.session === null) {
      this.#setState('connecting', {});
      this.#openSession();
    } else if (!this.#server.hasSession(this.session.id)) {
      this.#lose('expired');
    } else {
      this.#onConnected(false);
    }
  }

  override onState(listener: (change: StateChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The number of listeners for states, to check that none is left behind. */
  get listenerCount(): number {
    return this.#listeners.size;
  }

  override async close(): Promise<void> {
    if (this.#state === 'closed') return;
    const closing = this.#session;
    this.#dropConnection();
    this.#stopListening();
    if (closing !== null) this.#server.endSession(closing.session.id);
    this.#session = null;
    const error = new ClientClosedError();
    closing?.over.abort(error);
    this.#setState('closed', {});
    this.#failInFlight((_, ambiguous) => new ClientClosedError({ ambiguous }));
    for (const pending of this.#queued.splice(0)) pending.reject(error);
    this.#registry.onClosed();
  }

  override addWatch(
    path: string,
    watcher: Watcher,
    options?: AddWatchOptions,
  ): Promise<WatchHandle> {
    const recursive = options?.recursive === true;
    const mode = recursive ? AddWatchMode.persistentRecursive : AddWatchMode.persistent;
    const registry = this.#registry;
    let watch: ReturnType<WatchRegistry['addPersistent']> | undefined;
    const handle: WatchHandle = {
      path,
      mode,
      remove: async () => {
        if (watch !== undefined) registry.removePersistent(watch);
      },
    };
    return this.request({
      op: 'addWatch',
      path,
      isWrite: false,
      options,
      apply: () => handle,
      onReply: () => {
        watch = registry.addPersistent(path, recursive, watcher);
      },
    });
  }

  override request<T>(request: FakeRequest<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { op, path, isWrite, options } = request;
      const refused = this.#refusal(path, options);
      if (refused !== null) {
        reject(refused);
        return;
      }
      const undo: (() => void)[] = [];
      const settle = (action: () => void) => {
        for (const one of undo) one();
        this.#queued = this.#queued.filter((other) => other !== pending);
        this.#inFlight.delete(pending);
        action();
      };
      const pending: Pending = {
        op,
        path,
        isWrite,
        isSent: false,
        apply: (session) => {
          const reply = outcomeOf(() => request.apply(session));
          return () => {
            if (reply.kind === 'result') request.onReply?.(reply.result);
            settle(() => (reply.kind === 'result' ? resolve(reply.result) : reject(reply.error)));
          };
        },
        reject: (error) => settle(() => reject(error)),
      };
      undo.push(...limit(pending, options, this.surroundings));
      if (this.#state === 'connected') this.#send(pending);
      else this.#queued.push(pending);
    });
  }

  #refusal(path: string, options: OperationOptions | undefined): Error | null {
    if (this.#state === 'closed') return new ClientClosedError();
    const { signal, session } = options ?? {};
    if (signal?.aborted) {
      return new OperationAbortedError(signal.reason, { ambiguous: false, path });
    }
    if (session === undefined || session === this.session?.id) return null;
    return new SessionExpiredError(path);
  }

  #send(pending: Pending): void {
    const { session } = this;
    if (session === null) throw new Error('connected without a session');
    const { op, path } = pending;
    this.sent.push({ op, path });
    this.onSend?.({ op, path });
    pending.isSent = true;
    this.#inFlight.add(pending);
    const index = this.#faults.findIndex((fault) => fault.op === op);
    const [planned] = index < 0 ? [] : this.#faults.splice(index, 1);
    const fault = planned?.fault;
    if (fault === 'request-lost') {
      this.loseConnection();
    } else if (fault === 'reply-lost') {
      pending.apply(session.id);
      this.loseConnection();
    } else if (fault !== undefined) {
      this.#receive(() => pending.reject(fault));
    } else {
      const onReply = pending.apply(session.id);
      const { zxid } = this.#server;
      this.#receive(() => {
        this.#lastZxidSeen = zxid;
        if (this.#inFlight.has(pending)) onReply();
      });
    }
  }

  #onChange({ type, path, zxid }: FakeChange): void {
    if (this.#state !== 'connected') return;
    this.#receive(() => this.#registry.onEvent({ type, state: 3, path }, zxid));
  }

  /**
   * Handles one message per turn, so that code that awaits a reply runs before the next message.
   */
  #receive(handle: () => void): void {
    this.#inbound.push(handle);
    const connection = this.#connection;
    setImmediate(() => {
      if (connection === this.#connection) this.#inbound.shift()?.();
    });
  }

  #openSession(): void {
    const over = new AbortController();
    const { signal } = over;
    const password = new Uint8Array(16);
    const id = this.#server.openSession();
    this.#session = { over, session: { id, password, timeoutMs: this.#timeoutMs, signal } };
    this.#onConnected(true);
  }

  #onConnected(newSession: boolean): void {
    this.#connection++;
    this.#setState('connected', { newSession });
    const rearms = this.#registry.rearm(this.#lastZxidSeen, 1 << 20);
    for (const event of caughtUp(this.#server, rearms)) {
      this.#receive(() => this.#registry.onEvent(event, null));
    }
    this.#receive(() => {
      this.#registry.onRearmed();
      if (newSession) this.#registry.onNewSession();
      else this.#registry.onResumed();
    });
    for (const pending of this.#queued.splice(0)) {
      if (this.#state === 'connected') this.#send(pending);
      else this.#queued.push(pending);
    }
  }

  #dropConnection(): void {
    this.#connection++;
    this.#inbound.clear();
  }

  #failInFlight(errorOf: (path: string, ambiguous: boolean) => Error): void {
    const all = [...this.#inFlight];
    this.#inFlight.clear();
    for (const pending of all) {
      pending.reject(errorOf(pending.path, pending.isWrite));
    }
  }

  #setState(state: ClientState, about: Partial<StateChange>): void {
    this.#state = state;
    const sessionId = this.session?.id ?? null;
    const common = { state, sessionId, newSession: false, readOnly: false, error: null };
    for (const listener of [...this.#listeners]) listener({ ...common, ...about });
  }
}
