/**
 * The port that clients connect to.
 *
 * Owns the listener, every client connection and the door: connections per address, the timeout of
 * those without a session, four-letter words against frames. Never looks into a frame. All output
 * of a turn leaves in `flush()`, one write per connection. Created and driven by the driver.
 */
import { JuteReader, SlabPool } from '@rookery/protocol';
import type { Logger } from 'pino';
import { ClientConnection, type ConnectionLimits } from './client-connection.js';
import { ClientDoor } from './client-door.js';
import type { ClientHandler } from './client-handler.js';
import { ClientTurn, TURN_LIMITS, type TurnLimits } from './client-turn.js';
import { ConnectionTokens, type ConnectionTokensOptions } from './connection-tokens.js';
import { type AskedWord, replyToWord } from './four-letter/reply.js';
import { type FourLetterWhitelist, TRACE_MASK_BYTES } from './four-letter/words.js';
import { ListenError } from './listen-error.js';
import type { MemberView } from './member-view.js';
import { ConnectionStats, type ServerStats } from './server-stats.js';
import { StormLog } from './storm-log.js';
import type { Timer, Timers } from './timers.js';
import type { Address, ByteStream, Listener, Transport } from './transport.js';

export interface ClientPortOptions extends ConnectionLimits {
  readonly address: Address;
  /** Connections from one address; 0 for no limit. */
  readonly connectionsPerAddressMax: number;
  readonly whitelist: FourLetterWhitelist;
  readonly connectionTokens: ConnectionTokensOptions;
  /** Of all connections together. */
  readonly turn: TurnLimits;
}

/** The options with ZooKeeper's and the design's defaults for what the configuration leaves out. */
export const CLIENT_PORT_DEFAULTS = {
  frameBytesMax: 1_048_575,
  outputSoftBytes: 1 << 20,
  outputHardBytes: 16 << 20,
  lingerMs: 2_000,
  connectionsPerAddressMax: 0,
  sessionlessTimeoutMs: 10_000,
  connectionTokens: { max: 0, perSecond: 1 },
  turn: TURN_LIMITS,
} as const;

export interface ClientPortParts {
  readonly options: ClientPortOptions;
  readonly transport: Transport;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly stats: ServerStats;
  readonly view: MemberView;
  readonly handler: ClientHandler;
}

/** How often connections without a session are looked through, in parts of their timeout. */
const SESSIONLESS_CHECKS = 4;

export class ClientPort {
  readonly limits: ConnectionLimits;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly storms: StormLog;
  readonly stats: ServerStats;
  readonly turn: ClientTurn;
  readonly slabs = new SlabPool();
  /** Of one frame at a time, for all connections. */
  readonly frame = new JuteReader(new Uint8Array(0));

  readonly #options: ClientPortOptions;
  readonly #parts: ClientPortParts;
  readonly #connections = new Set<ClientConnection>();
  /** Open streams without a session, at the door or past it: since when, and how to drop them. */
  readonly #sessionless = new Map<number, Sessionless>();
  readonly #tokens: ConnectionTokens;
  readonly #doors = new Set<ClientDoor>();
  readonly #countByAddress = new Map<string, number>();
  #dirty: ClientConnection[] = [];
  #flushed: ClientConnection[] = [];
  #listener: Listener | null = null;
  #sweep: Timer | null = null;
  #nextId = 1;
  #isClosed = false;

  constructor(parts: ClientPortParts) {
    this.#parts = parts;
    this.#options = parts.options;
    this.limits = parts.options;
    this.timers = parts.timers;
    this.logger = parts.logger;
    this.storms = new StormLog(parts.logger, parts.timers);
    this.stats = parts.stats;
    this.turn = new ClientTurn(parts.timers, parts.options.turn);
    this.#tokens = new ConnectionTokens(parts.options.connectionTokens, parts.timers.nowMs());
  }

  /** Connections past the door, those that are about to close included. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  /** The bound port; the configured one before `listen`. */
  get port(): number {
    return this.#listener?.port ?? this.#options.address.port;
  }

  /** Opens the port; throws ListenError. */
  async listen(): Promise<void> {
    const { address } = this.#options;
    try {
      const onStream = (stream: ByteStream): void => this.#onStream(stream);
      this.#listener = await this.#parts.transport.listen(address, onStream, 'lent');
    } catch (cause) {
      throw new ListenError('client', address, cause);
    }
    this.logger.info({ host: address.host, port: this.port }, 'client.listening');
  }

  /** Writes what every connection has for its client; call it at the end of each turn. */
  flush(): void {
    const dirty = this.#dirty;
    if (dirty.length > 0) {
      this.#dirty = this.#flushed;
      for (const connection of dirty) connection.flush();
      dirty.length = 0;
      this.#flushed = dirty;
    }
    this.turn.renew();
  }

  /** In the order they came. */
  connections(): IterableIterator<ClientConnection> {
    return this.#connections.values();
  }

  /** Ends every connection: what is already written is sent. For the loss of a role. */
  endAll(reason: string): void {
    if (this.#connections.size > 0) {
      this.logger.info({ connections: this.#connections.size, reason }, 'client.end_all');
    }
    for (const connection of this.#connections) connection.end();
  }

  /** Stops listening and ends every connection; they may linger for `lingerMs`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sweep?.cancel();
    this.#sweep = null;
    await this.#listener?.close();
    this.#listener = null;
    for (const door of this.#doors) door.drop();
    this.endAll('the port closes');
    this.storms.close();
  }

  /** For the connections alone, as are the next three. */
  onFrame(connection: ClientConnection, frame: JuteReader): void {
    this.#parts.handler.onFrame(connection, frame);
  }

  onRoom(connection: ClientConnection): void {
    this.#parts.handler.onRoom(connection);
  }

  onDirty(connection: ClientConnection): void {
    this.#dirty.push(connection);
  }

  onSessionBound(connection: ClientConnection): void {
    this.#sessionless.delete(connection.id);
  }

  #onStream(stream: ByteStream): void {
    const refusal = this.#refusalFor(stream.remoteAddress);
    if (refusal !== null) {
      this.stats.connectionsRejected += 1;
      this.storms.warn('client.refused', { remote: stream.remoteAddress, ...refusal });
      stream.handle(IGNORE);
      stream.destroy();
      return;
    }
    const id = this.#nextId++;
    this.#countAddress(stream.remoteAddress, 1);
    this.#admit(id, stream);
    this.#maybeStartSweep();
  }

  #admit(id: number, stream: ByteStream): void {
    const door = new ClientDoor({
      stream,
      timers: this.timers,
      lingerMs: this.#options.lingerMs,
      argumentBytes: (word) => {
        return word === 'stmk' && this.#options.whitelist.allows(word) ? TRACE_MASK_BYTES : 0;
      },
      onWord: (asked) => this.#answerWord(asked, stream),
      onFrames: (first) => {
        if (!this.#mayCome(stream)) return null;
        this.#doors.delete(door);
        const connection = this.#open(id, stream);
        connection.onData(first);
        return connection;
      },
      onClosed: (connection) => this.#onStreamClosed(id, stream, { door, connection }),
    });
    this.#doors.add(door);
    const drop = (): void => door.drop();
    this.#sessionless.set(id, { sinceMs: this.timers.nowMs(), drop });
    door.open();
  }

  #answerWord(asked: AskedWord, { remoteAddress, remotePort }: ByteStream): string {
    const wallMs = this.timers.wallMs();
    const stats = new ConnectionStats(this.stats, wallMs);
    stats.receivedPackets(1);
    const expiresWallMs = wallMs + this.#options.sessionlessTimeoutMs;
    const asker = { remoteAddress, remotePort, interestOps: 0, expiresWallMs, stats };
    const connections = [asker, ...this.#connections];
    const { view } = this.#parts;
    const context = { view, stats: this.stats, wallMs, connections };
    return replyToWord(asked, this.#options.whitelist, context);
  }

  /** Four-letter words need no token. */
  #mayCome(stream: ByteStream): boolean {
    if (this.#tokens.take(this.timers.nowMs())) return true;
    this.stats.connectionsRejected += 1;
    this.stats.tokenDeficit.record(1);
    const facts = { remote: stream.remoteAddress, reason: 'connections come too fast' };
    this.storms.warn('client.refused', facts);
    return false;
  }

  #open(id: number, stream: ByteStream): ClientConnection {
    const stats = new ConnectionStats(this.stats, this.timers.wallMs());
    const connection = new ClientConnection({ id, stream, owner: this, stats });
    const sinceMs = this.#sessionless.get(id)?.sinceMs ?? connection.openedAtMs;
    this.#sessionless.set(id, {
      sinceMs,
      drop: () => connection.close('no session in time', 'told'),
    });
    this.#connections.add(connection);
    this.stats.connectionRequests += 1;
    this.#parts.handler.onOpen(connection);
    return connection;
  }

  #onStreamClosed(id: number, stream: ByteStream, was: StreamOwner): void {
    this.#sessionless.delete(id);
    this.#countAddress(stream.remoteAddress, -1);
    this.#doors.delete(was.door);
    if (was.connection === null) return;
    this.#connections.delete(was.connection);
    this.#parts.handler.onClosed(was.connection);
  }

  #refusalFor(address: string): Record<string, unknown> | null {
    const limit = this.#options.connectionsPerAddressMax;
    if (this.#isClosed) return { reason: 'the port closes' };
    if (limit > 0 && (this.#countByAddress.get(address) ?? 0) >= limit) {
      return { reason: 'too many connections from one address', maxClientCnxns: limit };
    }
    return null;
  }

  #countAddress(address: string, change: number): void {
    const count = (this.#countByAddress.get(address) ?? 0) + change;
    if (count === 0) this.#countByAddress.delete(address);
    else this.#countByAddress.set(address, count);
  }

  #maybeStartSweep(): void {
    if (this.#sweep !== null || this.#sessionless.size === 0 || this.#isClosed) return;
    const delayMs = this.#options.sessionlessTimeoutMs / SESSIONLESS_CHECKS;
    this.#sweep = this.timers.after(delayMs, () => {
      this.#sweep = null;
      this.#dropSessionless();
      this.#maybeStartSweep();
    });
  }

  #dropSessionless(): void {
    const timeoutMs = this.#options.sessionlessTimeoutMs;
    const nowMs = this.timers.nowMs();
    for (const [id, { sinceMs, drop }] of this.#sessionless) {
      // In the order they came: everything behind is younger.
      if (nowMs - sinceMs < timeoutMs) return;
      this.#sessionless.delete(id);
      this.stats.sessionlessExpired += 1;
      this.storms.warn('client.sessionless_expired', { connection: id, timeoutMs });
      drop();
    }
  }
}

interface Sessionless {
  readonly sinceMs: number;
  readonly drop: () => void;
}

interface StreamOwner {
  readonly door: ClientDoor;
  readonly connection: ClientConnection | null;
}

const IGNORE = {
  onData: (): void => {},
  onEnd: (): void => {},
  onDrain: (): void => {},
  onClose: (): void => {},
};
