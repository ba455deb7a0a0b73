/**
 * What a member is, whatever role it has: its identity, epochs, history, links and outputs.
 *
 * The roles (looking, following, leading) act through it. It owns the two rules that no role may
 * bend: deliver only what is committed and durable here, and never let an epoch fall.
 */
import {
  assert,
  type CoreMessage,
  formatZxid,
  type PeerId,
  type Proposal,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import { History } from './history.js';
import { majorityOf } from './quorum.js';
import { Tickets } from './tickets.js';
import type { LinkId, Ticket, ZabOptions, ZabOutput, ZabStart } from './types.js';

/**
 * So many times the usual bytes of proposals are kept while a learner is brought up: more than is
 * written, of large values too, while the log that it missed is read from disk.
 */
const STREAMING_WINDOWS = 128;
/** However large the window is made. */
const STREAMING_BYTES_MAX = 128 << 20;

/** One live connection to a peer. */
export interface Link {
  readonly peer: PeerId;
  readonly link: LinkId;
  /** When anything last came in, ms. */
  heardAtMs: number;
  /** When the ping left that the peer answered last: proof of contact, however late it is read. */
  contactAtMs: number;
  /** The peer's own time in its last ping, to be echoed. */
  echo: number;
  /** The peer's newest view of the election. */
  vote: VoteMessage | null;
  /** Its offer to follow this member, kept until this member leads. */
  offeredEpoch: number | null;
  /** The driver sends a snapshot or old history over it, so it can serve nothing else. */
  streaming: boolean;
}

export class Member {
  readonly options: ZabOptions;
  readonly history: History;
  readonly tickets = new Tickets();
  readonly links = new Map<PeerId, Link>();
  nowMs = 0;
  /** Since when storage has had something to write without completing anything; else null. */
  writingSinceMs: number | null = null;
  round = 0;
  ensembleId: string;
  founded: boolean;
  #sound: boolean;
  #acceptedEpoch: number;
  #currentEpoch: number;
  /** From whom the accepted epoch came; not known after a restart. */
  acceptedFrom: PeerId = 0;
  #committed: Zxid;
  #delivered: Zxid;
  /** Once this is durable a damaged disk is whole again, whatever the role then. */
  #soundFrom: Ticket = Number.POSITIVE_INFINITY;
  readonly #avoided = new Map<PeerId, number>();
  #outputs: ZabOutput[] = [];

  constructor(options: ZabOptions, start: ZabStart) {
    assert(options.voters.includes(options.id), `member ${options.id} is not among the voters`);
    assert(
      start.currentEpoch <= start.acceptedEpoch,
      `currentEpoch ${start.currentEpoch} above acceptedEpoch ${start.acceptedEpoch}`,
    );
    this.options = options;
    this.history = new History(start.history, start.applied, start.suffix);
    this.ensembleId = start.ensembleId;
    this.founded = start.founded;
    this.#sound = start.sound;
    this.#acceptedEpoch = start.acceptedEpoch;
    this.#currentEpoch = start.currentEpoch;
    this.#committed = start.applied;
    this.#delivered = start.applied;
  }

  get id(): PeerId {
    return this.options.id;
  }
  get quorum(): number {
    return majorityOf(this.options.voters.length);
  }
  /** False: the disk is damaged, and nothing has made it whole since. */
  get sound(): boolean {
    return this.#sound;
  }
  get acceptedEpoch(): number {
    return this.#acceptedEpoch;
  }
  get currentEpoch(): number {
    return this.#currentEpoch;
  }
  get committed(): Zxid {
    return this.#committed;
  }
  get delivered(): Zxid {
    return this.#delivered;
  }

  takeOutputs(): readonly ZabOutput[] {
    const outputs = this.#outputs;
    this.#outputs = [];
    return outputs;
  }

  emit(output: ZabOutput): void {
    this.#outputs.push(output);
  }

  note(event: string, detail: string): void {
    this.emit({ kind: 'note', event, detail });
  }

  /** Nothing is said on a link that has been given up. */
  send(link: Link, message: CoreMessage): void {
    if (this.links.get(link.peer) !== link) return;
    this.emit({ kind: 'send', peer: link.peer, link: link.link, message });
  }

  sendToAll(message: CoreMessage): void {
    for (const link of this.links.values()) this.send(link, message);
  }

  #issue(): Ticket {
    this.writingSinceMs ??= this.nowMs;
    return this.tickets.issue();
  }

  append(proposals: readonly Proposal[]): Ticket {
    const ticket = this.#issue();
    this.history.append(proposals, ticket);
    this.emit({ kind: 'append', ticket, proposals });
    return ticket;
  }

  truncate(after: Zxid): void {
    assert(
      after >= this.#delivered,
      () => `truncation after ${formatZxid(after)}, but ${formatZxid(this.#delivered)} is applied`,
    );
    const ticket = this.#issue();
    this.history.truncate(after);
    this.emit({ kind: 'truncate', ticket, after });
  }

  installSnapshot(zxid: Zxid): void {
    assert(
      zxid >= this.#delivered,
      () => `a snapshot at ${formatZxid(zxid)} goes back from ${formatZxid(this.#delivered)}`,
    );
    const ticket = this.#issue();
    this.#soundFrom = ticket;
    this.history.reset(zxid);
    this.#committed = zxid;
    this.#delivered = zxid;
    this.emit({ kind: 'installSnapshot', ticket, zxid });
  }

  acceptEpoch(epoch: number, from: PeerId): Ticket {
    assert(epoch >= this.#acceptedEpoch, `accepting ${epoch} after ${this.#acceptedEpoch}`);
    if (epoch === this.#acceptedEpoch) return this.tickets.newest;
    this.acceptedFrom = from;
    this.#acceptedEpoch = epoch;
    return this.#saveEpochs();
  }

  /** The history of `epoch` is here whole; it was appended before, so it is durable before. */
  enterEpoch(epoch: number, ensembleId: string): Ticket {
    assert(epoch === this.#acceptedEpoch, `entering ${epoch}, accepted ${this.#acceptedEpoch}`);
    assert(epoch >= this.#currentEpoch, `entering ${epoch} after ${this.#currentEpoch}`);
    this.#currentEpoch = epoch;
    if (this.ensembleId !== ensembleId) this.founded = false;
    this.ensembleId = ensembleId;
    return this.#saveEpochs();
  }

  /**
   * A damaged disk has lost what this member acknowledged, so its vote is worth nothing until it
   * has synced: it becomes a wiped member. On disk too, since a crash right after the snapshot
   * would else leave a sound disk, an ensemble id, and a hole in what it once vouched for.
   */
  giveUpMembership(): void {
    assert(!this.sound, 'a sound member keeps its ensemble id');
    if (this.ensembleId === '') return;
    this.ensembleId = '';
    this.founded = false;
    this.#saveEpochs();
  }

  /** A quorum holds this ensemble id: from now on it is never given up but by damage. */
  found(): Ticket {
    if (this.founded) return this.tickets.newest;
    this.founded = true;
    return this.#saveEpochs();
  }

  #saveEpochs(): Ticket {
    const ticket = this.#issue();
    this.emit({
      kind: 'saveEpochs',
      ticket,
      accepted: this.#acceptedEpoch,
      current: this.#currentEpoch,
      ensembleId: this.ensembleId,
      founded: this.founded,
    });
    return ticket;
  }

  /** Learns that everything up to `zxid` is committed, and delivers what is durable here too. */
  commit(zxid: Zxid): void {
    const { hasMore } = this;
    this.#committed = Math.max(this.#committed, zxid);
    // What waits for its turn waits on: a turn brings many commits, the more the longer the last.
    if (!hasMore) this.deliverReady();
  }

  onPersisted(ticket: Ticket): void {
    const { hasMore } = this;
    this.tickets.onPersisted(ticket);
    this.writingSinceMs = ticket === this.tickets.newest ? null : this.nowMs;
    this.history.onPersisted(ticket);
    if (ticket >= this.#soundFrom) this.#sound = true;
    if (!hasMore) this.deliverReady();
  }

  get #ready(): Zxid {
    return Math.min(this.#committed, this.history.durable);
  }

  /** More is committed and durable here than one step delivers. */
  get hasMore(): boolean {
    return this.#delivered < this.#ready;
  }

  /** A part that is applied in some ms, if it is much: heartbeats and clients come in between. */
  deliverReady(): void {
    if (!this.hasMore) return;
    const { deliveryBytesMax } = this.options;
    const proposals = this.history.slice(this.#delivered, this.#ready, deliveryBytesMax);
    const last = proposals.at(-1);
    const continues = proposals[0]?.previous === this.#delivered;
    assert(last !== undefined && continues, 'delivery would leave a hole');
    this.#delivered = last.zxid;
    this.emit({ kind: 'deliver', proposals });
    this.history.trim(last.zxid, this.#windowBytesMax());
  }

  /**
   * More while a learner is brought up from disk: if what is proposed meanwhile were only there,
   * too, it would take as long again, and under load never end.
   */
  #windowBytesMax(): number {
    const { windowBytesMax } = this.options;
    const manyBytes = Math.min(STREAMING_WINDOWS * windowBytesMax, STREAMING_BYTES_MAX);
    const streamingBytesMax = Math.max(windowBytesMax, manyBytes);
    for (const link of this.links.values()) {
      if (link.streaming) return streamingBytesMax;
    }
    return windowBytesMax;
  }

  /** For whoever reads the log at night: which members to look after. */
  unreachableText(): string {
    const missing = this.options.voters.filter((id) => id !== this.id && !this.links.has(id));
    return missing.length === 0 ? 'all are reachable' : `unreachable: ${missing.join(', ')}`;
  }

  linkOf(peer: PeerId): Link | undefined {
    return this.links.get(peer);
  }

  /** The leader refused or was refused: it is not tried again before its vote could settle. */
  avoid(peer: PeerId): void {
    this.#avoided.set(peer, this.nowMs + this.options.settleMs);
  }

  avoids(peer: PeerId): boolean {
    return this.nowMs < (this.#avoided.get(peer) ?? 0);
  }

  /** Gives a link up; the peer counts as unreachable until a new one has come about. */
  drop(link: Link, reason: string): void {
    if (this.links.get(link.peer) !== link) return;
    this.links.delete(link.peer);
    this.emit({ kind: 'disconnect', peer: link.peer, link: link.link, reason });
  }
}
