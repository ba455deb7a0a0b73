/**
 * The port through which members communicate, with at most one link per pair.
 *
 * Owns the listener, the diallers and every link. The member with the higher id dials; one with a
 * lower id connects once when it starts, to end the dialler's back-off. A link is up when both
 * hellos are accepted; PeerHandler has the order of its events. Messages are sent in `flush()`.
 * The port decides who may connect, and encodes and decodes messages. It looks into messages only
 * before a link is up, and to see whether one is a ping. Driven by the
 * driver.
 */

import type { ConnectionOptions } from 'node:tls';
import {
  assert,
  errorMessage,
  type Hello,
  MarshallingError,
  type PeerId,
  type PeerMessage,
  type Refuse,
} from '@rookery/protocol';
import {
  decodePeerMessage,
  encodePeerFrame,
  isPeerMessage,
  type LinkMessage,
} from '@rookery/protocol/peer';
import type { Logger } from 'pino';
import type { ListenAddress } from '../config/addresses.js';
import { ListenError } from './listen-error.js';
import { type AdmittingMember, PeerAdmission, PROOF_BYTES_MAX } from './peer-admission.js';
import { isProvenBy } from './peer-authentication.js';
import {
  type EnsembleIdentity,
  helloOf,
  judgeHello,
  type OwnIdentity,
  type OwnVersions,
  rivalProblem,
  type SharedSettings,
  type StartsView,
} from './peer-hello.js';
import { HELLO_BYTES_MAX, type LinkOwner, PeerLink } from './peer-link.js';
import { RateLimitedLog, RepeatedTroubles } from './rate-limited-log.js';
import type { Timer, Timers } from './timers.js';
import type { Address, ByteStream, Listener, Transport } from './transport.js';

/** A member's end of its links, and what it is made of. */
export interface LinkedMember extends AdmittingMember {
  /** Random for each start of the process. */
  readonly instance: string;
  readonly address: ListenAddress;
  /** A link heard from within this time wins against another process with the same id. */
  readonly peerTimeoutMs: number;
  readonly versions: OwnVersions;
  /** The settings that all members must share. */
  readonly shared: SharedSettings;
  readonly starts: StartsView;
  /** The largest frame of a link that is up. */
  readonly frameBytesMax: number;
  /** Bytes that may be queued on a link before it is dropped. */
  readonly queueBytesMax: number;
  readonly transport: Transport;
  readonly timers: Timers;
  readonly logger: Logger;
  identity(): EnsembleIdentity;
  /** Returns a random number in [0, 1), for the jitter of the back-off. */
  random(): number;
}

export const PEER_PORT_DEFAULTS = {
  frameBytesMax: 32 << 20,
  queueBytesMax: 64 << 20,
  unprovenMax: 128,
} as const;

const DIAL_TIMEOUT_MS = 1_000;
const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 1_000;

/**
 * Receives the events of the links; the driver.
 *
 * For each link: `onConnected`, any number of `onMessage`, `onDisconnected` exactly once, in this
 * order; the calls of two links of one peer never interleave. Link numbers only grow. No call is
 * made from within a call to the port, `disconnect` and `send` included.
 */
export interface PeerHandler {
  /** The hello went both ways and both accepted it; `version` is the wire version of the link. */
  onConnected(peer: PeerId, link: number, hello: Hello, version: number): void;
  /** The message owns its bytes: it may be kept. */
  onMessage(peer: PeerId, link: number, message: PeerMessage): void;
  onDisconnected(peer: PeerId, link: number, reason: string): void;
}

/** The links that are up, for messages to a member by its id. */
export interface PeerSender {
  /** Whether a link to the peer is up, so that `sendTo` sends. */
  reaches(peer: PeerId): boolean;
  /** Sends on the peer's link that is up; does nothing without one. */
  sendTo(peer: PeerId, message: PeerMessage): void;
}

/** The size of the length before each frame. */
const LENGTH_BYTES = 4;

export class PeerPort implements LinkOwner, DialOwner, PeerSender {
  readonly frameBytesMax: number;
  readonly queueBytesMax: number;
  readonly transport: Transport;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly rateLimited: RateLimitedLog;

  readonly #member: LinkedMember;
  readonly #diallers = new Map<PeerId, PeerDialler>();
  /** When `takeHeard` was called last. */
  #toldMs = 0;
  /** Links that are up. */
  readonly #links = new Map<PeerId, PeerLink>();
  readonly #admission: PeerAdmission;
  /** Every link whose stream is not closed yet. */
  readonly #open = new Set<PeerLink>();
  readonly #troubles: RepeatedTroubles;
  #handler: PeerHandler | null = null;
  #listener: Listener | null = null;
  #nextLink = 1;
  #isClosed = false;

  constructor(member: LinkedMember) {
    this.#member = member;
    this.frameBytesMax = member.frameBytesMax;
    this.queueBytesMax = member.queueBytesMax;
    this.transport = member.transport;
    this.timers = member.timers;
    this.logger = member.logger;
    this.rateLimited = new RateLimitedLog(member.logger, member.timers);
    this.#troubles = new RepeatedTroubles(member.logger, this.rateLimited, member.peers);
    this.#admission = new PeerAdmission(member, this.rateLimited);
    for (const [peer, address] of member.peers) {
      if (peer < member.id) this.#diallers.set(peer, new PeerDialler(this, peer, address));
    }
  }

  /** The bound port; the configured one before `listen`. */
  get port(): number {
    return this.#listener?.port ?? this.#member.address.port;
  }

  /**
   * Opens the port, dials every member with a lower id, and wakes the diallers of the others. From
   * now on the handler learns of every link.
   * Throws ListenError. Opens nothing if there are no other members.
   */
  async listen(handler: PeerHandler): Promise<void> {
    this.#handler = handler;
    const { address, peers } = this.#member;
    if (peers.size === 0) return;
    try {
      const onStream = (stream: ByteStream): void => this.#onAccepted(stream);
      this.#listener = await this.transport.listen(address, onStream, {
        chunks: 'lentLarge',
        tls: this.#admission.listenTls,
      });
    } catch (cause) {
      throw new ListenError('peer', address, cause);
    }
    this.logger.info({ host: address.host, port: this.port }, 'peer.listening');
    for (const dialler of this.#diallers.values()) dialler.start();
    for (const [peer, peerAddress] of peers) {
      if (!this.#diallers.has(peer)) void this.#wakeDialler(peer, peerAddress);
    }
  }

  /**
   * Encodes a message now and queues it for the next flush. Messages arrive in this order, except
   * that a ping may overtake others. A message for a link that is gone is dropped; its end is
   * reported.
   */
  send(peer: PeerId, link: number, message: PeerMessage): void {
    const to = this.#linkOf(peer, link);
    if (to === null) return;
    const frame = encodePeerFrame(message, to.version);
    const bytes = frame.length - LENGTH_BYTES;
    const { frameBytesMax } = this;
    const fits = () => `a ${message.kind} of ${bytes} bytes fits a frame of ${frameBytesMax}`;
    assert(bytes <= frameBytesMax, fits);
    to.enqueue(frame, message.kind === 'ping');
  }

  reaches(peer: PeerId): boolean {
    return this.#links.has(peer);
  }

  sendTo(peer: PeerId, message: PeerMessage): void {
    const to = this.#links.get(peer);
    if (to !== undefined) this.send(peer, to.number, message);
  }

  isUp(peer: PeerId, link: number): boolean {
    return this.#linkOf(peer, link) !== null;
  }

  /** The links that have received anything since the last call, be it a part of a message. */
  takeHeard(nowMs: number): { readonly peer: PeerId; readonly link: number }[] {
    const sinceMs = this.#toldMs;
    this.#toldMs = nowMs;
    const heard = [...this.#links].filter(([, { heardAtMs }]) => heardAtMs >= sinceMs);
    return heard.map(([peer, { number }]) => ({ peer, link: number }));
  }

  /** Sends what every link has queued. Called right before ClientPort's `flush`. */
  flush(): void {
    for (const link of this.#links.values()) link.flush();
  }

  /** Bytes queued on this link; 0 if it is gone. They pace what is sent of old history. */
  queuedBytes(peer: PeerId, link: number): number {
    return this.#linkOf(peer, link)?.queuedBytes ?? 0;
  }

  /** Drops a link. Nothing of it is delivered any more, and `onDisconnected` follows. */
  disconnect(peer: PeerId, link: number, reason: string): void {
    this.#linkOf(peer, link)?.drop(reason);
  }

  /** Stops listening and dialling, and drops every link, which is reported as usual. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const dialler of this.#diallers.values()) dialler.stop();
    for (const link of this.#open) link.drop('this member stops');
    await this.#listener?.close();
    this.#listener = null;
    this.rateLimited.close();
  }

  #linkOf(peer: PeerId, number: number): PeerLink | null {
    const link = this.#links.get(peer);
    return link !== undefined && link.number === number ? link : null;
  }

  // The next methods are only for diallers and links.

  random(): number {
    return this.#member.random();
  }

  dialTls(peer: PeerId): ConnectionOptions | null {
    return this.#admission.dialTls(peer);
  }

  onDialled(peer: PeerId, stream: ByteStream): void {
    const way = this.#admission.wayTo(peer);
    const isProved = way === 'none' || stream.secured !== null;
    const link = this.#linkFor(stream, peer, isProved ? null : PROOF_BYTES_MAX);
    link.open();
    const problem = this.#admission.certificateProblem(link, peer);
    if (problem !== null) return this.#refuse(link, peer, problem, false);
    link.write(this.#admission.onDialled(link, peer, way) ?? encodePeerFrame(this.#helloTo(peer)));
  }

  /** Tried once. If it fails, the other member dials this one when it starts. */
  async #wakeDialler(peer: PeerId, address: Address): Promise<void> {
    const dialling = dialPeer(this.transport, address, this.dialTls(peer));
    const stream = await dialling.catch(() => null);
    if (this.#isClosed) stream?.destroy();
    else if (stream !== null) this.onDialled(peer, stream);
  }

  onDialFailed(peer: PeerId, address: Address, error: unknown): void {
    this.#admission.onDialFailed(peer, error);
    const reason = errorMessage(error);
    const trouble = { peer, ...address, reason };
    this.#troubles.report({ level: 'info', event: 'peer.unreachable', peer, trouble });
  }

  #onAccepted(stream: ByteStream): void {
    if (this.#isClosed) {
      stream.handle({ onData: () => {}, onEnd: () => {}, onDrain: () => {}, onClose: () => {} });
      stream.destroy();
      return;
    }
    const proofBytesMax = this.#admission.needsProof ? PROOF_BYTES_MAX : HELLO_BYTES_MAX;
    const link = this.#linkFor(stream, null, proofBytesMax);
    this.#admission.onAccepted(link);
    link.open();
  }

  #linkFor(stream: ByteStream, dialled: PeerId | null, proofBytesMax: number | null): PeerLink {
    const number = this.#nextLink++;
    const link = new PeerLink(this, stream, { number, dialled, proofBytesMax });
    this.#open.add(link);
    return link;
  }

  onFrame(link: PeerLink, frame: Uint8Array): void {
    const message = this.#decode(link, frame);
    if (message === null) return;
    if (message.kind === 'refuse') {
      this.#onRefused(link, message);
    } else if (link.phase === 'proving') {
      this.#onProving(link, message);
    } else if (link.phase === 'hello') {
      if (message.kind === 'hello') this.#onHello(link, message);
      else link.dropAsGarbage(`a ${message.kind} before the hello`);
    } else if (isPeerMessage(message)) {
      this.#handler?.onMessage(link.peer, link.number, message);
    } else {
      link.dropAsGarbage(`a ${message.kind} after the hello`);
    }
  }

  #onProving(link: PeerLink, message: LinkMessage): void {
    const passed = this.#admission.onMessage(link, message);
    if (passed === null) return;
    if (passed !== 'proven') {
      if (passed.kind === 'refused') this.#refuse(link, passed.peer, passed.reason, false);
      else this.#onHello(link, passed);
    } else if (link.dialled !== null) link.write(encodePeerFrame(this.#helloTo(link.dialled)));
  }

  #decode(link: PeerLink, frame: Uint8Array): LinkMessage | null {
    try {
      return decodePeerMessage(frame, link.version);
    } catch (error) {
      if (!(error instanceof MarshallingError)) throw error;
      link.dropAsGarbage(error.message);
      return null;
    }
  }

  /** Logs the refusal and sends it; `peer` is the id that the other side claims. */
  #refuse(link: PeerLink, peer: PeerId, reason: string, isLasting: boolean): void {
    const trouble = { peer, remote: link.remote, reason };
    const level = isLasting ? 'error' : 'warn';
    this.#troubles.report({ level, event: 'peer.refused', peer, trouble });
    link.refuse(reason, isLasting);
  }

  #onHello(link: PeerLink, hello: Hello): void {
    const { proven } = link;
    if (proven !== null && !isProvenBy(proven, hello)) {
      this.logger.info({ ...proven, remote: link.remote }, 'peer.not_as_proven');
      link.drop('its hello differs from its proof');
      return;
    }
    // The member with the higher id dials. A connection from a lower one is only a wake-up.
    const isWakeUp = hello.id < this.#member.id && link.dialled === null;
    const judged = judgeHello(hello, {
      own: this.#ownIdentity(),
      dialled: link.dialled,
      isMember: (id) => this.#member.peers.has(id),
    });
    const incumbent = isWakeUp ? undefined : this.#links.get(hello.id);
    const nowMs = this.timers.nowMs();
    const problem = judged.problem ?? rivalProblem(hello, incumbent, this.#member, nowMs);
    if (problem !== null) {
      this.#refuse(link, hello.id, problem, judged.isLasting);
      return;
    }
    if (isWakeUp) {
      this.#diallers.get(hello.id)?.hurry();
      link.drop('it was a wake-up of the dialler');
      return;
    }
    this.#replaceLink(hello.id);
    if (link.dialled === null) {
      link.enqueue(encodePeerFrame(this.#helloTo(hello.id)));
      link.flush();
    }
    link.establish(hello, judged.version);
    this.#onEstablished(link, hello);
  }

  #replaceLink(peer: PeerId): void {
    const old = this.#links.get(peer);
    if (old === undefined) return;
    old.drop('replaced by a new link');
    this.#reportDown(old);
  }

  #onEstablished(link: PeerLink, hello: Hello): void {
    // `establish` has dropped the link, because more came before its hello was answered.
    if (link.phase !== 'up') return;
    this.#links.set(hello.id, link);
    this.#admission.onAdmitted(link, hello.id);
    this.#diallers.get(hello.id)?.reset();
    this.#troubles.forget(hello.id);
    const facts = { peer: hello.id, link: link.number, remote: link.remote };
    const { instance, offer } = hello;
    const version = { version: link.version, release: offer.release };
    this.logger.info({ ...facts, ...version, instance }, 'peer.connected');
    this.#handler?.onConnected(hello.id, link.number, hello, link.version);
  }

  #onRefused(link: PeerLink, { reason, isLasting }: Refuse): void {
    const peer = link.dialled ?? link.peer;
    const trouble = { peer, remote: link.remote, reason };
    const level = isLasting ? 'error' : 'warn';
    this.#troubles.report({ level, event: 'peer.refused_by', peer, trouble });
    link.drop(`refused by the other side: ${reason}`);
  }

  onClosed(link: PeerLink): void {
    this.#open.delete(link);
    this.#admission.onClosed(link, link.peer !== 0);
    this.#maybeReportTls(link);
    this.#reportDown(link);
    if (link.dialled !== null) this.#diallers.get(link.dialled)?.retry();
  }

  /** With TLS 1.3 the dialler learns after its handshake that its certificate is not accepted. */
  #maybeReportTls(link: PeerLink): void {
    const { dialled: peer, peer: up, certificate, remote, downReason: reason } = link;
    if (peer === null || up !== 0 || certificate === null || this.#isClosed) return;
    const trouble = { peer, remote, reason };
    this.#troubles.report({ level: 'info', event: 'peer.unreachable', peer, trouble });
  }

  /** Reports a link that was up, once: it leaves the map here. */
  #reportDown(link: PeerLink): void {
    const { peer, number, downReason } = link;
    if (this.#linkOf(peer, number) === null) return;
    this.#links.delete(peer);
    this.logger.info({ peer, link: number, reason: downReason }, 'peer.disconnected');
    this.#handler?.onDisconnected(peer, number, downReason);
  }

  #helloTo(peer: PeerId): Hello {
    return helloOf(this.#ownIdentity(), this.#member.instance, peer);
  }

  #ownIdentity(): OwnIdentity {
    const { id, versions, shared, starts } = this.#member;
    return { id, versions, shared, starts, ...this.#member.identity() };
  }
}

/** A dialler's port. */
interface DialOwner {
  readonly transport: Transport;
  readonly timers: Timers;
  /** Returns a random number in [0, 1). */
  random(): number;
  /** How the next attempt is secured; null for not at all. */
  dialTls(peer: PeerId): ConnectionOptions | null;
  onDialled(peer: PeerId, stream: ByteStream): void;
  /** An attempt has failed. The next one is scheduled already. */
  onDialFailed(peer: PeerId, address: Address, error: unknown): void;
}

/**
 * Dials one member until it answers, with a back-off that doubles and has jitter.
 *
 * There is at most one attempt or timer at a time. The port asks for another attempt (`retry`,
 * after a failure or a lost link), ends the waiting (`hurry`), and reports a completed hello
 * (`reset`). The transport resolves the name at each attempt (ZOOKEEPER-1506, 2982, 2184).
 */
export class PeerDialler {
  readonly #owner: DialOwner;
  readonly #peer: PeerId;
  readonly #address: Address;
  #backoffMs = BACKOFF_MIN_MS;
  #timer: Timer | null = null;
  #isDialling = false;
  #isStopped = false;
  #dialledAtMs = Number.NEGATIVE_INFINITY;

  constructor(owner: DialOwner, peer: PeerId, address: Address) {
    this.#owner = owner;
    this.#peer = peer;
    this.#address = address;
  }

  /** Makes the first attempt at once. */
  start(): void {
    void this.#dial();
  }

  /** Tries again after the back-off: between half of it and all of it. */
  retry(): void {
    if (this.#isStopped || this.#timer !== null || this.#isDialling) return;
    const delayMs = this.#backoffMs * (0.5 + this.#owner.random() / 2);
    this.#backoffMs = Math.min(this.#backoffMs * 2, BACKOFF_MAX_MS);
    this.#timer = this.#owner.timers.after(delayMs, () => {
      this.#timer = null;
      void this.#dial();
    });
  }

  /**
   * The other member says that it has just started. A waiting attempt is made at once, and the
   * back-off begins again. Attempts are never more frequent than without back-off, because any
   * stranger can send this message.
   */
  hurry(): void {
    this.reset();
    const sinceMs = this.#owner.timers.nowMs() - this.#dialledAtMs;
    if (this.#timer === null || sinceMs < BACKOFF_MIN_MS) return;
    this.#timer.cancel();
    this.#timer = null;
    void this.#dial();
  }

  reset(): void {
    this.#backoffMs = BACKOFF_MIN_MS;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** An error thrown by `onDialled` is a bug and ends the process as an unhandled rejection. */
  async #dial(): Promise<void> {
    const owner = this.#owner;
    this.#isDialling = true;
    this.#dialledAtMs = owner.timers.nowMs();
    let stream: ByteStream;
    try {
      stream = await dialPeer(owner.transport, this.#address, owner.dialTls(this.#peer));
    } catch (error) {
      this.#isDialling = false;
      if (this.#isStopped) return;
      this.retry();
      owner.onDialFailed(this.#peer, this.#address, error);
      return;
    }
    this.#isDialling = false;
    if (this.#isStopped) stream.destroy();
    else owner.onDialled(this.#peer, stream);
  }
}

/** Dials with TLS where it is asked for, which needs a transport that has it. */
function dialPeer(
  transport: Transport,
  address: Address,
  tls: ConnectionOptions | null,
): Promise<ByteStream> {
  if (tls === null) return transport.dial(address, DIAL_TIMEOUT_MS, 'lentLarge');
  assert(transport.dialTls !== undefined, 'members with TLS are on a network of sockets');
  return transport.dialTls(address, DIAL_TIMEOUT_MS, tls);
}
