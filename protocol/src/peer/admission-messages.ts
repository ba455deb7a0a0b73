/**
 * What members say to each other before a link is up: proofs, where they share a secret, then the
 * hellos with their offers; or a refusal. `codec.ts` turns a message into bytes.
 */
import type { PeerId } from './proposal.js';

/**
 * The first frame of a link, each way; what does not match is refused with a reason. Its layout is
 * the same in all wire versions: whatever is new goes into `offer`, where older releases ignore it.
 */
export interface Hello {
  readonly kind: 'hello';
  /** The highest wire version that the sender speaks. */
  readonly version: number;
  readonly id: PeerId;
  readonly to: PeerId;
  /** Random per process start: distinguishes a restarted member from a second one with its id. */
  readonly instance: string;
  readonly ensembleId: string;
  readonly founded: boolean;
  readonly offer: HelloOffer;
}

/** A start of a member on one data directory. */
export interface StartOf {
  /** Random, drawn when the directory was made or given up; '' where there is none. */
  readonly incarnation: string;
  /** How often a member was started on it, this time included; 0 where it is not known. */
  readonly count: number;
  /** The process, as in the hello. */
  readonly instance: string;
}

/** The named part of a hello; a member ignores names that it does not know. See `hello.ts`. */
export interface HelloOffer {
  /** The lowest wire version that the sender speaks. */
  readonly wireMin: number;
  /** The sender's release, for the log line of a refusal. */
  readonly release: string;
  /** The ensemble level of the sender's state: see docs/architecture/versions.md. */
  readonly level: number;
  /** The highest level that the sender's release knows. */
  readonly levelMax: number;
  /** The highest level that its operator lets the ensemble be raised to. */
  readonly levelAgreed: number;
  /** What the sender's memory allows the tree, bytes; 0 where it does not say. */
  readonly treeBytes: number;
  /**
   * Settings that members must share, by name, as text: see `server/src/member/member-options.ts`.
   */
  readonly shared: readonly (readonly [name: string, value: string])[];
  /** The start of the sender. */
  readonly start: StartOf;
  /** The processes of the starts right before it, the last one last: see `known-starts.ts`. */
  readonly earlierStarts: readonly string[];
  /** The receiver's last start that the sender has seen; see `driver/known-starts.ts`. */
  readonly lastSeen: StartOf;
}

/**
 * The first frame of a link whose dialler shares a secret with the members that it dials: who it
 * says it is. Answered by a challenge. Nothing is believed before the proofs.
 */
export interface Claim {
  readonly kind: 'claim';
  readonly id: PeerId;
  readonly to: PeerId;
  /** NONCE_BYTES random bytes, never sent before. */
  readonly nonce: Uint8Array;
}

export interface Challenge {
  readonly kind: 'challenge';
  /** NONCE_BYTES random bytes of the accepting side, never sent before. */
  readonly nonce: Uint8Array;
}

/** The dialler sends its proof first, then the accepting side does; then come the hellos. */
export interface Proof {
  readonly kind: 'proof';
  /** The sender's ensemble id, '' before it has one. The codes cover it. */
  readonly ensembleId: string;
  /**
   * An HMAC-SHA-256 code by each secret of the sender; the accepting side answers with the code by
   * the secret that both have.
   */
  readonly codes: readonly Uint8Array[];
}

/** The messages before the hellos of a link, where members share a secret. */
export type AuthenticationMessage = Claim | Challenge | Proof;

/** Sent instead of a hello that is not acceptable, right before the link is closed. */
export interface Refuse {
  readonly kind: 'refuse';
  readonly reason: string;
  /** Whether only an operator can change the reason, at one of the two members or at both. */
  readonly isLasting: boolean;
}
