/**
 * An ensemble of simulated members under manual control: nothing happens unless it is requested.
 *
 * The same environment serves the golden traces (through the commands) and the random test. It is a
 * driver: it runs the core's outputs in order, decides nothing, and passes each to the checker.
 */
import {
  assert,
  COUNTER_MAX,
  type CoreMessage,
  counterOf,
  epochOf,
  makeZxid,
  type PeerId,
  type Proposal,
  ProposalBatch,
  unreachable,
  WIRE_VERSION_MAX,
  type Zxid,
} from '@rookery/protocol';
import { decodePeerMessage, encodePeerFrame } from '@rookery/protocol/peer';
import { Checker } from './checker.js';
import type { DiskRoom, ZabInput, ZabOptions, ZabOutput } from './core.js';
import { outputText } from './describe.js';
import { SimulatedMember, type Transfer } from './member.js';
import { Network, type Packet } from './network.js';
import { applyTo, bytesOf, EMPTY_TREE } from './tree.js';

export interface EnsembleSetup {
  readonly size: number;
  readonly pingsApart: boolean;
  readonly windowBytesMax?: number;
  readonly deliveryBytesMax?: number;
  readonly chunkBytesMax?: number;
  /** The members that may found with a quorum; none by default. */
  readonly founders?: readonly PeerId[] | 'all';
  /** The lists with which all members served before; none by default. */
  readonly formerMembers?: readonly (readonly PeerId[])[];
  /** Replaces the checker of what Zab promises: some members may not be honest. */
  readonly checker?: Checker;
  /** Null: nobody reads the trace. */
  readonly onLine: ((line: string) => void) | null;
}

export const HEARTBEAT_MS = 100;

export class Ensemble {
  readonly members = new Map<PeerId, SimulatedMember>();
  readonly network: Network;
  readonly checker: Checker;
  readonly #options: Omit<ZabOptions, 'id' | 'newEnsembleId' | 'newIdentity' | 'foundWithQuorum'>;
  readonly #founders: readonly PeerId[] | 'all';
  readonly #onLine: ((line: string) => void) | null;
  nowMs = 1000;
  /** The counter with which a new epoch begins. */
  firstCounter = 1;

  constructor(setup: EnsembleSetup) {
    const members = Array.from({ length: setup.size }, (_, index) => index + 1);
    for (const id of members) this.members.set(id, new SimulatedMember(id));
    this.network = new Network(setup.pingsApart);
    this.checker = setup.checker ?? new Checker(setup.size);
    this.#onLine = setup.onLine;
    this.#options = {
      members,
      formerMembers: setup.formerMembers ?? [],
      heartbeatMs: HEARTBEAT_MS,
      peerTimeoutMs: 1000,
      settleMs: 200,
      initTimeoutMs: 5000,
      syncTimeoutMs: 5000,
      windowBytesMax: setup.windowBytesMax ?? 1 << 20,
      learnerWindowBytesMax: 128 << 20,
      deliveryBytesMax: setup.deliveryBytesMax ?? 1 << 20,
      chunkBytesMax: setup.chunkBytesMax ?? 1 << 16,
    };
    this.#founders = setup.founders ?? [];
  }

  member(id: PeerId): SimulatedMember {
    const member = this.members.get(id);
    assert(member !== undefined, `there is no member ${id}`);
    return member;
  }

  // Processes

  start(id: PeerId): void {
    const member = this.member(id);
    assert(member.zab === null, `member ${id} is up`);
    const foundWithQuorum = this.#founders === 'all' || this.#founders.includes(id);
    member.start({ ...this.#options, foundWithQuorum });
    this.#step(member, { kind: 'tick', nowMs: this.nowMs });
    this.#step(member, { kind: 'room', room: member.room });
  }

  /** Loses what is not durable; the other ends learn of it after what was sent before. */
  crash(id: PeerId): void {
    const member = this.member(id);
    for (const { from, to, link } of this.network.directions()) {
      if (from === id) this.network.close(id, to, link);
    }
    for (const other of this.members.keys()) this.#forgetUnread(other, id);
    member.crash();
    this.checker.check(this.members.values());
  }

  tick(ms: number): void {
    this.nowMs += ms;
    for (const member of this.members.values()) {
      if (member.zab !== null) this.#step(member, { kind: 'tick', nowMs: this.nowMs });
    }
  }

  // Links

  connect(a: PeerId, b: PeerId): void {
    this.network.connect(a, b);
  }

  canConnect(a: PeerId, b: PeerId): boolean {
    const up = this.member(a).zab !== null && this.member(b).zab !== null;
    return up && !this.network.isCut(a, b) && !this.network.isConnected(a, b);
  }

  /** Delivers the oldest packet; false if there is none, or the pair is cut. */
  deliver(from: PeerId, to: PeerId): boolean {
    const taken = this.network.take(from, to);
    if (taken === null) return false;
    const member = this.member(to);
    if (member.zab === null) return true;
    const { link, packet } = taken;
    if (packet.kind === 'connected') {
      member.links.set(from, link);
      const version = this.#versionOf(from, to);
      this.#step(member, { kind: 'connected', peer: from, link, version });
      return true;
    }
    if (member.links.get(from) === link) this.#receive(member, from, link, packet);
    return true;
  }

  deliverPings(): void {
    for (const { direction, ping } of this.network.takePings()) {
      const { from, to, link } = direction;
      const member = this.member(to);
      if (member.zab === null || member.links.get(from) !== link) continue;
      this.#step(member, { kind: 'message', peer: from, link, message: ping });
    }
  }

  /** Breaks the link between two members at once, with everything in flight on it. */
  breakLink(a: PeerId, b: PeerId): void {
    this.network.break(a, b);
    for (const [id, peer] of [
      [a, b],
      [b, a],
    ] as const) {
      const member = this.member(id);
      const link = member.links.get(peer);
      if (link === undefined) continue;
      member.links.delete(peer);
      this.#step(member, { kind: 'disconnected', peer, link });
    }
  }

  // Disks

  /** Makes the member's oldest storage output durable and notifies its core. */
  persist(id: PeerId): boolean {
    const member = this.member(id);
    const output = member.disk.persistOne();
    if (output === null) return false;
    if (output.kind === 'installSnapshot') {
      member.tree = member.disk.checkpoint;
      this.checker.onInstalled(id, member.tree);
    }
    if (member.zab !== null) this.#step(member, { kind: 'persisted', ticket: output.ticket });
    return true;
  }

  /** Lets the core deliver the next part; false if it has no more. */
  apply(id: PeerId): boolean {
    const member = this.member(id);
    if (member.zab?.replica.hasMore !== true) return false;
    this.#step(member, { kind: 'deliverMore' });
    return true;
  }

  setRoom(id: PeerId, room: DiskRoom): void {
    const member = this.member(id);
    member.room = room;
    this.#step(member, { kind: 'room', room });
  }

  checkpoint(id: PeerId): void {
    const { disk, tree } = this.member(id);
    disk.takeCheckpoint(tree);
  }

  /** False if a transfer still needs that part of the log. */
  purge(id: PeerId, base: Zxid): boolean {
    const member = this.member(id);
    if (member.transfers.length > 0 || base <= member.disk.base) return false;
    member.disk.purge(base);
    if (member.zab !== null) this.#step(member, { kind: 'purged', base });
    return true;
  }

  // Clients

  propose(id: PeerId, payloads: readonly string[]): boolean {
    const { zab } = this.member(id);
    assert(zab !== null, `member ${id} is down`);
    const proposals: Proposal[] = [];
    let previous = zab.replica.history.last;
    for (const payload of payloads) {
      const zxid = this.#nextZxid(previous, zab.replica.currentEpoch);
      if (zxid === null) return false;
      proposals.push({ zxid, previous, body: bytesOf(payload) });
      previous = zxid;
    }
    this.#step(this.member(id), { kind: 'propose', batch: ProposalBatch.of(proposals) });
    return true;
  }

  confirm(id: PeerId, question: number): void {
    const member = this.member(id);
    assert(member.zab !== null, `member ${id} is down`);
    this.checker.onAsked(id, question, member.zab.replica.history.last);
    this.#step(member, { kind: 'confirm', id: question });
  }

  // Transfers

  transfer(id: PeerId): Transfer | null {
    const member = this.member(id);
    const transfer = member.transfers.shift();
    if (transfer === undefined || member.zab === null) return null;
    const { peer, link } = transfer;
    if (member.links.get(peer) !== link) return transfer;
    if (transfer.kind === 'snapshot') {
      const tree = member.disk.checkpoint;
      for (const index of [1, 2]) {
        this.network.send(id, peer, link, { kind: 'chunk', index, zxid: tree.zxid, tree });
      }
      this.#step(member, { kind: 'snapshotSent', peer, link, zxid: tree.zxid });
      // As if the learner had verified it at once.
      this.#step(member, { kind: 'historySent', peer, link, through: tree.zxid });
      return transfer;
    }
    const { after, through } = transfer;
    if (after === through) {
      this.#step(member, { kind: 'historySent', peer, link, through });
      return transfer;
    }
    const batch = member.disk.read(after, through);
    assert(batch !== null, `the log of ${id} does not reach back to ${after}`);
    const message = { kind: 'propose', batch } as const;
    this.network.send(id, peer, link, { kind: 'message', message });
    this.#onLine?.(`${id} => ${peer} history (${batch.count} proposals)`);
    this.#step(member, { kind: 'historySent', peer, link, through });
    return transfer;
  }

  // The core

  #nextZxid(last: Zxid, epoch: number): Zxid | null {
    if (epochOf(last) !== epoch) return makeZxid(epoch, this.firstCounter);
    return counterOf(last) === COUNTER_MAX ? null : last + 1;
  }

  #forgetUnread(from: PeerId, to: PeerId): void {
    const direction = this.network.direction(from, to);
    if (direction === undefined) return;
    direction.packets = [];
    direction.pings = [];
  }

  #receive(member: SimulatedMember, from: PeerId, link: number, packet: Packet): void {
    switch (packet.kind) {
      case 'closed':
        member.links.delete(from);
        this.network.close(member.id, from, link);
        return this.#step(member, { kind: 'disconnected', peer: from, link });
      case 'chunk':
        member.disk.staged = packet.index === 2 ? packet.tree : null;
        return;
      case 'message':
        return this.#step(member, { kind: 'message', peer: from, link, message: packet.message });
      case 'connected':
        return;
      default:
        unreachable(packet);
    }
  }

  #step(member: SimulatedMember, input: ZabInput): void {
    if (member.zab === null) return;
    for (const output of member.zab.step(input)) this.#run(member, output);
    this.checker.check(this.members.values());
  }

  #run(member: SimulatedMember, output: ZabOutput): void {
    if (this.#onLine !== null) {
      const line = outputText(member.id, output);
      if (line !== null) this.#onLine(line);
    }
    switch (output.kind) {
      case 'append':
      case 'truncate':
      case 'saveEpochs':
      case 'installSnapshot':
        return member.disk.enqueue(output);
      case 'giveUp':
        member.tree = EMPTY_TREE;
        this.checker.onLost(member.id);
        return member.disk.enqueue(output);
      case 'send':
        return this.#send(member, output.peer, output.link, output.message);
      case 'deliver':
        return this.#deliver(member, output.batch);
      case 'confirmed':
        return this.checker.onConfirmed(member.id, output.id, output.zxid);
      case 'refusal':
        member.refuses = output.isOn;
        return;
      case 'role':
        member.serves = output.role;
        if (output.role === 'looking') member.refuses = false;
        if (output.role === 'leading') this.checker.onLeads(member.id, output.epoch);
        return;
      case 'sendHistory': {
        const { peer, link, after, through } = output;
        member.transfers.push({ kind: 'history', peer, link, after, through });
        return;
      }
      case 'sendSnapshot':
        member.transfers.push({ kind: 'snapshot', peer: output.peer, link: output.link });
        return;
      case 'disconnect':
        if (member.links.get(output.peer) === output.link) member.links.delete(output.peer);
        return this.network.close(member.id, output.peer, output.link);
      case 'note':
        return;
      default:
        unreachable(output);
    }
  }

  #send(member: SimulatedMember, peer: PeerId, link: number, message: CoreMessage): void {
    assert(member.links.get(peer) === link, `${member.id} sends on a link that is gone`);
    this.checker.onSend(member, message);
    const version = this.#versionOf(member.id, peer);
    const sent = version < WIRE_VERSION_MAX ? inVersion(message, version) : message;
    this.network.send(member.id, peer, link, { kind: 'message', message: sent });
  }

  #versionOf(one: PeerId, other: PeerId): number {
    return Math.min(this.member(one).version, this.member(other).version);
  }

  #deliver(member: SimulatedMember, batch: ProposalBatch): void {
    const disks = [...this.members.values()].map(({ disk }) => disk);
    for (const proposal of batch) {
      member.tree = applyTo(member.tree, proposal);
      this.checker.onDelivered(member.id, member.tree, proposal, disks);
    }
  }

  /**
   * Replaces the disk by a new one, or makes the old one unreadable. Only while the member is down.
   */
  lose(id: PeerId, how: 'wipe' | 'damage'): void {
    const member = this.member(id);
    assert(member.zab === null, `member ${id} is up`);
    this.checker.onLost(id);
    if (how === 'damage') {
      member.disk.damaged = true;
    } else {
      const fresh = new SimulatedMember(id);
      member.disk = fresh.disk;
    }
    member.tree = EMPTY_TREE;
  }
}

/** What of the message a link of this wire version carries. */
function inVersion(message: CoreMessage, version: number): CoreMessage {
  return decodePeerMessage(encodePeerFrame(message, version).subarray(4), version) as CoreMessage;
}
