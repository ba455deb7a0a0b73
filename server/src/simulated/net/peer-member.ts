/**
 * Members for the tests of peer links: each a port that notes every event as text.
 *
 * Marks what is told of a link that is not the peer's current one. Disconnects on a commit.
 */
import { randomBytes } from 'node:crypto';
import {
  type Hello,
  type HelloOffer,
  type PeerId,
  type PeerMessage,
  WIRE_VERSION_MAX,
  WIRE_VERSION_MIN,
} from '@rookery/protocol';
import type { PeerSecurity } from '../../net/peer-admission.js';
import type { EnsembleIdentity, OwnVersions } from '../../net/peer-hello.js';
import {
  type LinkedMember,
  PEER_PORT_DEFAULTS,
  type PeerHandler,
  PeerPort,
} from '../../net/peer-port.js';
import type { Transport } from '../../net/transport.js';
import { LEVEL, LEVEL_MAX } from '../../state/level.js';
import { dialled, type FarEnd, keptLog, type LogLine } from './fixtures.js';
import { ManualTimers } from './manual-timers.js';
import { MemoryNetwork } from './memory-transport.js';

export const PORT = 2881;

export const VERSIONS: OwnVersions = {
  wire: { min: WIRE_VERSION_MIN, max: WIRE_VERSION_MAX },
  release: 'test',
  levelMax: LEVEL_MAX,
  levelAgreed: LEVEL_MAX,
  treeBytes: 1_000_000,
};

export class Member implements PeerHandler {
  readonly events: string[] = [];
  readonly links = new Map<PeerId, number>();
  readonly lines: LogLine[];
  readonly port: PeerPort;
  identity: EnsembleIdentity = { ensembleId: '', founded: false, level: LEVEL.first };

  constructor(setup: {
    readonly id: PeerId;
    readonly host?: string;
    readonly instance?: string;
    readonly timers: ManualTimers;
    readonly network: { transport(host: string): Transport };
    readonly options?: Partial<LinkedMember>;
    /** Whoever comes is believed, by default. */
    readonly security?: Partial<PeerSecurity>;
  }) {
    const log = keptLog();
    this.lines = log.lines;
    const { id, host = `m${id}`, instance = `i${id}` } = setup;
    const others = [1, 2, 3].filter((other) => other !== id);
    this.port = new PeerPort({
      ...PEER_PORT_DEFAULTS,
      id,
      instance,
      address: { host, port: PORT },
      peers: new Map(others.map((other) => [other, { host: `m${other}`, port: PORT }])),
      peerTimeoutMs: 500,
      versions: VERSIONS,
      shared: [],
      transport: setup.network.transport(host),
      timers: setup.timers,
      starts: { own: NO_START, earlier: [], lastSeen: () => NO_START },
      random: () => 0.5,
      security: { ways: ['none'], secrets: () => [], randomBytes, tls: null, ...setup.security },
      logger: log.logger,
      identity: () => this.identity,
      ...setup.options,
    });
  }

  listen(): Promise<void> {
    return this.port.listen(this);
  }

  onConnected(peer: PeerId, link: number, hello: Hello): void {
    this.links.set(peer, link);
    this.events.push(`connected ${peer} ${hello.instance}`);
  }

  onMessage(peer: PeerId, link: number, message: PeerMessage): void {
    if (message.kind === 'commit') this.port.disconnect(peer, link, 'test');
    const isOfThisLink = this.links.get(peer) === link;
    const text = message.kind === 'ack' ? `ack ${message.zxid}` : message.kind;
    this.events.push(`${text} from ${peer}${isOfThisLink ? '' : ' of an OLD link'}`);
  }

  onDisconnected(peer: PeerId, link: number): void {
    this.events.push(`disconnected ${peer}${this.links.get(peer) === link ? '' : ' OLD'}`);
    this.links.delete(peer);
  }

  linkTo(peer: PeerId): number {
    return this.links.get(peer) ?? -1;
  }

  ack(peer: PeerId, zxid: number): void {
    this.port.send(peer, this.linkTo(peer), { kind: 'ack', zxid });
  }

  logged(event: string): LogLine[] {
    return this.lines.filter((line) => line.msg === event);
  }
}

export const NO_START = { incarnation: '', count: 0, instance: '' };

export const OFFER: HelloOffer = {
  wireMin: WIRE_VERSION_MIN,
  release: 'test',
  level: LEVEL.first,
  levelMax: LEVEL_MAX,
  levelAgreed: LEVEL_MAX,
  treeBytes: 1_000_000,
  shared: [],
  start: NO_START,
  earlierStarts: [],
  lastSeen: NO_START,
};

/** The hello of member 3 to member 1. */
export const HELLO: Hello = {
  kind: 'hello',
  version: WIRE_VERSION_MAX,
  id: 3,
  to: 1,
  instance: 'x',
  ensembleId: '',
  founded: false,
  offer: OFFER,
};

export function world(): { readonly timers: ManualTimers; readonly network: MemoryNetwork } {
  const timers = new ManualTimers();
  return { timers, network: new MemoryNetwork(timers) };
}

/** Members 1 and 2, connected. */
export async function pair(options: Partial<LinkedMember> = {}) {
  const { timers, network } = world();
  const one = new Member({ id: 1, timers, network, options });
  const two = new Member({ id: 2, timers, network, options });
  await one.listen();
  await two.listen();
  await timers.advance(20);
  return { timers, network, one, two };
}

/** Resolves with the end of a stream to member 1 that somebody who is no member has dialled. */
export function dialMember1(network: MemoryNetwork, timers: ManualTimers): Promise<FarEnd> {
  return dialled(network, timers, { to: { host: 'm1', port: PORT } });
}
