/**
 * Whether a hello is acceptable, and in words why not.
 *
 * Pure. Both ends of a link judge the other's hello by the same rules, so that each can log the
 * reason. What only the port can tell is judged there: whether a hello is a knock, and whether a
 * second process uses a member's id.
 */
import { type Hello, PEER_PROTOCOL_VERSION, type PeerId } from '@rookery/protocol';

export interface OwnIdentity {
  readonly id: PeerId;
  readonly ensembleId: string;
  readonly founded: boolean;
}

export interface HelloExpectation {
  readonly own: OwnIdentity;
  /** Whom this member dialled; null when the other one did. */
  readonly dialled: PeerId | null;
  readonly isMember: (id: PeerId) => boolean;
}

/** Null when the hello is acceptable. */
export function helloProblem(hello: Hello, expected: HelloExpectation): string | null {
  const { own, dialled } = expected;
  if (hello.version !== PEER_PROTOCOL_VERSION) {
    return `peer protocol ${hello.version} is not ${PEER_PROTOCOL_VERSION}, spoken by ${own.id}`;
  }
  if (hello.to !== own.id) {
    return `the hello is for member ${hello.to}, this is member ${own.id}: check the addresses`;
  }
  if (dialled !== null && hello.id !== dialled) {
    return `member ${hello.id} answers at the address of member ${dialled}: check the addresses`;
  }
  if (!expected.isMember(hello.id)) {
    return `member ${hello.id} is not in the configuration of member ${own.id}`;
  }
  if (dialled !== null && dialled > own.id) return `member ${hello.id} answers a knock`;
  return ensembleProblem(hello, own);
}

/**
 * An id that no quorum is known to share yet may still be replaced by joining, so only two founded
 * ensembles are irreconcilable here; the core decides about the rest.
 */
function ensembleProblem(hello: Hello, own: OwnIdentity): string | null {
  if (!hello.founded || !own.founded || hello.ensembleId === own.ensembleId) return null;
  return (
    `member ${hello.id} belongs to ensemble ${hello.ensembleId}, ` +
    `member ${own.id} to ensemble ${own.ensembleId}: one has another ensemble's data directory`
  );
}
