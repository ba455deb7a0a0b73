/**
 * The interface of every role. A role is created for one term and dropped at its end with all its
 * memory, so nothing of an old term can act in a new one (ZOOKEEPER-4712).
 */
import type { CoreMessage, PeerId, VoteMessage } from '@rookery/protocol';
import type { Link } from './replica.js';
import type { RoleName } from './types.js';

/** The ways in which a role ends itself. */
export interface Transitions {
  look(reason: string): void;
  follow(leader: PeerId): void;
  lead(founding: boolean): void;
}

export interface Role {
  readonly name: RoleName;
  /** Whether clients must not be answered, because the lease of this role is in doubt. */
  readonly isDoubtful: boolean;
  /** This member's view of the election, for its peers. */
  vote(): VoteMessage;
  start(): void;
  onTick(): void;
  onConnected(link: Link): void;
  onDisconnected(peer: PeerId): void;
  /** The peer's new vote is already in `link.vote`. */
  onVote(link: Link): void;
  onMessage(link: Link, message: CoreMessage): void;
  /** The disk of this member has become full, or has room again. */
  onRoom(): void;
  /** Called when more is durable or delivered. */
  onProgress(): void;
}
