/**
 * How many questions this member asks each other one at a time and in a second.
 *
 * Each member has bounds of its own, so that a silent one takes no place from the others. Of these
 * bounds one asker has a part only, so that whoever asks without a pause leaves the others theirs.
 * An asker that waits for nothing is forgotten when a question comes in a later second. Used by
 * PeerQuestions.
 */
import { assert, type PeerId } from '@rookery/protocol';

/** The questions of one member that are answered in a second; to ask more is of no use. */
export const ANSWERS_PER_SECOND = 20;
const OF_ASKER_PER_SECOND = 15;
/** The questions to one member that wait for their answers. */
const WAITING_MAX = 32;
const WAITING_OF_ASKER_MAX = 8;
const SECOND_MS = 1000;

interface Count {
  /** The questions of this second. */
  asked: number;
  waiting: number;
}

interface OfMember extends Count {
  secondMs: number;
  readonly askers: Map<string, Count>;
}

export class QuestionBounds {
  readonly #members = new Map<PeerId, OfMember>();

  /** Counts the question if it is within the bounds; false if it must not be asked. */
  admit(peer: PeerId, asker: string, nowMs: number): boolean {
    const member = this.#memberAt(peer, nowMs);
    const own = member.askers.get(asker) ?? { asked: 0, waiting: 0 };
    if (member.waiting >= WAITING_MAX || own.waiting >= WAITING_OF_ASKER_MAX) return false;
    if (member.asked >= ANSWERS_PER_SECOND || own.asked >= OF_ASKER_PER_SECOND) return false;
    member.askers.set(asker, own);
    for (const count of [member, own]) {
      count.asked += 1;
      count.waiting += 1;
    }
    return true;
  }

  /** The question was answered, or nobody waits for its answer any more. */
  over(peer: PeerId, asker: string): void {
    const member = this.#members.get(peer);
    const own = member?.askers.get(asker);
    assert(member !== undefined && own !== undefined, () => `${asker} has asked member ${peer}`);
    member.waiting -= 1;
    own.waiting -= 1;
  }

  #memberAt(peer: PeerId, nowMs: number): OfMember {
    const member = this.#members.get(peer) ?? newMember();
    this.#members.set(peer, member);
    if (nowMs - member.secondMs < SECOND_MS) return member;
    member.secondMs = nowMs;
    member.asked = 0;
    for (const [asker, count] of member.askers) {
      count.asked = 0;
      if (count.waiting === 0) member.askers.delete(asker);
    }
    return member;
  }
}

function newMember(): OfMember {
  return { asked: 0, waiting: 0, secondMs: Number.NEGATIVE_INFINITY, askers: new Map() };
}
