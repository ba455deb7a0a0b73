/**
 * What every role answers to. A role is created for one term and dropped at its end; whatever it
 * remembered goes with it, so nothing of an old term can act in a new one (ZOOKEEPER-4712).
 */
import type { CoreMessage, PeerId, ProposalBatch, VoteMessage, Zxid } from '@rookery/protocol';
import type { Link } from './member.js';
import type { LinkId, RoleName } from './types.js';

/** How a role ends itself. */
export interface Transitions {
  look(reason: string): void;
  follow(leader: PeerId): void;
  lead(founding: boolean): void;
}

export interface Role {
  readonly name: RoleName;
  /** What this member tells others about the election. */
  vote(): VoteMessage;
  start(): void;
  onTick(): void;
  onConnected(link: Link): void;
  onDisconnected(peer: PeerId): void;
  /** The peer's new vote is already in `link.vote`. */
  onVote(link: Link): void;
  onMessage(link: Link, message: CoreMessage): void;
  /** More is durable here, or delivered. */
  onProgress(): void;
  onPropose(batch: ProposalBatch): void;
  onConfirm(id: number): void;
  onHistorySent(peer: PeerId, link: LinkId, through: Zxid): void;
  onSnapshotSent(peer: PeerId, link: LinkId, zxid: Zxid): void;
}
