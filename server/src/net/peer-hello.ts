/**
 * Makes this member's hello, and judges whether another member's hello is acceptable.
 *
 * Both ends of a link judge the other's hello by the same rules, so each can log the reason of a
 * refusal, and both find the same wire version. The port judges what only it can know: whether a
 * hello is just a wake-up, and whether a second process uses a member's id. Pure.
 */
import {
  commonWireVersion,
  type Hello,
  type HelloOffer,
  type PeerId,
  type StartOf,
  WIRE_VERSION_MIN,
  type WireVersions,
} from '@rookery/protocol';
import { MOVE_FROM_0_2 } from '../config/version.js';

/** The versions that this member knows and may use; constant while it runs. */
export interface OwnVersions {
  readonly wire: WireVersions;
  readonly release: string;
  /** The highest ensemble level that this release knows, and the highest it may be raised to. */
  readonly levelMax: number;
  readonly levelAgreed: number;
  /** The size of the tree that this member's memory allows, in bytes. */
  readonly treeBytes: number;
}

/** Read for each hello, because joining an ensemble or a new level changes it. */
export interface EnsembleIdentity {
  readonly ensembleId: string;
  readonly founded: boolean;
  /** The level of this member's state. */
  readonly level: number;
}

/** Settings by name, as text: see `sharedSettings` in `member/member-options.ts`. */
export type SharedSettings = HelloOffer['shared'];

export interface OwnIdentity extends EnsembleIdentity {
  readonly id: PeerId;
  readonly versions: OwnVersions;
  readonly shared: SharedSettings;
  readonly starts: StartsView;
}

/** The starts in a hello: see `driver/known-starts.ts`. */
export interface StartsView {
  readonly own: StartOf;
  readonly earlier: readonly string[];
  lastSeen(peer: PeerId): StartOf;
}

export interface HelloExpectation {
  readonly own: OwnIdentity;
  /** The member that was dialled from here; null if the other one dialled. */
  readonly dialled: PeerId | null;
  readonly isMember: (id: PeerId) => boolean;
}

export interface JudgedHello {
  /** Why the hello is refused; null if it is acceptable. */
  readonly problem: string | null;
  /** Whether an operator must resolve it, because no later attempt can succeed. */
  readonly isLasting: boolean;
  /** The wire version of the link. */
  readonly version: number;
}

export function helloOf(own: OwnIdentity, instance: string, to: PeerId): Hello {
  const { id, ensembleId, founded, level, versions, shared, starts } = own;
  const { wire, release, levelMax, levelAgreed, treeBytes } = versions;
  const levels = { level, levelMax, levelAgreed };
  const { own: start, earlier: earlierStarts } = starts;
  const said = { start, earlierStarts, lastSeen: starts.lastSeen(to) };
  const offer = { wireMin: wire.min, release, ...levels, treeBytes, shared, ...said };
  return { kind: 'hello', version: wire.max, id, to, instance, ensembleId, founded, offer };
}

export function judgeHello(hello: Hello, expected: HelloExpectation): JudgedHello {
  const theirs = { min: hello.offer.wireMin, max: hello.version };
  const version = commonWireVersion(expected.own.versions.wire, theirs);
  if (version === null) {
    return { problem: wireProblem(hello, expected.own), isLasting: true, version: 0 };
  }
  const misdirected = addressProblem(hello, expected);
  if (misdirected !== null) return { problem: misdirected, isLasting: false, version };
  const { own } = expected;
  const unequal =
    ensembleProblem(hello, own) ?? levelProblem(hello, own) ?? settingsProblem(hello, own);
  if (unequal !== null) return { problem: unequal, isLasting: true, version };
  return { problem: strangerProblem(hello, expected), isLasting: false, version };
}

function addressProblem(hello: Hello, { own, dialled }: HelloExpectation): string | null {
  if (hello.to !== own.id) {
    return `the hello is for member ${hello.to}, this is member ${own.id}: check the addresses`;
  }
  if (dialled !== null && hello.id !== dialled) {
    return `member ${hello.id} answers at the address of member ${dialled}: check the addresses`;
  }
  return null;
}

/** Checked last, so that a member of a longer list learns that the lists differ. */
function strangerProblem(hello: Hello, expected: HelloExpectation): string | null {
  const { own, dialled } = expected;
  if (!expected.isMember(hello.id)) {
    return `member ${hello.id} is not in the configuration of member ${own.id}`;
  }
  if (dialled !== null && dialled > own.id) return `member ${hello.id} answers a wake-up`;
  return null;
}

/**
 * Compares shared settings. Members that differ in them could lead two ensembles or grant one lock
 * twice. A setting that only one of them names is unknown to the other's release and is skipped.
 */
function settingsProblem({ id, offer }: Hello, own: OwnIdentity): string | null {
  const theirs = new Map(offer.shared);
  const unequal = own.shared.flatMap(([name, value]) => {
    const other = theirs.get(name);
    if (other === undefined || other === value) return [];
    return [`${name} is ${other} at member ${id} and ${value} at member ${own.id}`];
  });
  if (unequal.length === 0) return null;
  return `${unequal.join('; ')}: stop all members, make their files equal, start them`;
}

/** Checked first, because nothing else in a hello of unknown version is certain. */
function wireProblem({ id, offer, version }: Hello, own: OwnIdentity): string {
  const { wire, release } = own.versions;
  const isBefore = version < WIRE_VERSION_MIN;
  return (
    `member ${id} runs release ${offer.release}, which speaks peer protocols ${offer.wireMin} to ` +
    `${version}, member ${own.id} runs release ${release}, which speaks ${wire.min} to ` +
    `${wire.max}: they cannot work together${isBefore ? `; ${MOVE_FROM_0_2}` : ''}`
  );
}

/**
 * Only two founded ensembles are irreconcilable. An id that no quorum is known to share may still
 * be replaced when its member joins; the core decides about that.
 */
function ensembleProblem(hello: Hello, own: OwnIdentity): string | null {
  if (!hello.founded || !own.founded || hello.ensembleId === own.ensembleId) return null;
  return (
    `member ${hello.id} belongs to ensemble ${hello.ensembleId}, ` +
    `member ${own.id} to ensemble ${own.ensembleId}: one has another ensemble's data directory`
  );
}

/** A member at a level sends what a release that does not know the level cannot read. */
function levelProblem({ id, offer }: Hello, own: OwnIdentity): string | null {
  const { release, levelMax } = own.versions;
  if (offer.level > levelMax) {
    return (
      `the ensemble of member ${id} (release ${offer.release}) is at level ${offer.level}, ` +
      `release ${release} of member ${own.id} knows levels up to ${levelMax}: use the newer release`
    );
  }
  if (own.level > offer.levelMax) {
    return (
      `the ensemble of member ${own.id} (release ${release}) is at level ${own.level}, ` +
      `release ${offer.release} of member ${id} knows levels up to ${offer.levelMax}: ` +
      'use the newer release'
    );
  }
  return null;
}

/** What is known of the process to which a member's link leads. */
export interface Incumbent {
  readonly instance: string;
  readonly phase: string;
  readonly remote: string;
  readonly heardAtMs: number;
}

/** A second process with the id of a live member would corrupt its votes and ACKs. */
export function rivalProblem(
  { id, instance }: Hello,
  incumbent: Incumbent | undefined,
  own: { readonly id: PeerId; readonly peerTimeoutMs: number },
  nowMs: number,
): string | null {
  if (incumbent === undefined || incumbent.instance === instance) return null;
  if (incumbent.phase === 'down' || nowMs - incumbent.heardAtMs >= own.peerTimeoutMs) return null;
  return (
    `a second process with the id ${id}: another one is connected to member ` +
    `${own.id} from ${incumbent.remote}`
  );
}
