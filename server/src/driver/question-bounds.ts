/**
 * How many questions this member asks each other one at a time and in a second.
 *
 * Each member has bounds of its own, so that a silent one takes no place from the others. Of these
 * bounds one asker has a part only, so that whoever asks without a pause leaves the others theirs.
 * A question beyond the rate waits for one of the next seconds, as long as there is a place to
 * wait. An asker that waits for nothing is forgotten when a question comes in a later second. Used
 * by PeerQuestions.
 */
import { assert, type PeerId } from '@rookery/protocol';

const ASKED_PER_SECOND = 20;
const OF_ASKER_PER_SECOND = 15;
/** A second of the member that answers touches two seconds of the one that asks. */
export const ANSWERS_PER_SECOND = 2 * ASKED_PER_SECOND;
/** The questions to one member that wait to be asked, or for their answers. */
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

  /** Takes a place until `leave`; false if none is free, so that the question must not be asked. */
  enter(peer: PeerId, asker: string): boolean {
    const member = this.#members.get(peer) ?? newMember();
    const own = member.askers.get(asker) ?? { asked: 0, waiting: 0 };
    if (member.waiting >= WAITING_MAX || own.waiting >= WAITING_OF_ASKER_MAX) return false;
    this.#members.set(peer, member);
    member.askers.set(asker, own);
    member.waiting += 1;
    own.waiting += 1;
    return true;
  }

  /**
   * Counts a question that has a place as asked now, and returns 0, or how many ms are left of a
   * second in which no more of them are asked.
   */
  pauseMs(peer: PeerId, asker: string, nowMs: number): number {
    const { member, own } = this.#entered(peer, asker);
    if (nowMs - member.secondMs >= SECOND_MS) startSecond(member, nowMs);
    if (member.asked >= ASKED_PER_SECOND || own.asked >= OF_ASKER_PER_SECOND) {
      return member.secondMs + SECOND_MS - nowMs;
    }
    member.asked += 1;
    own.asked += 1;
    return 0;
  }

  /** The question was answered, or nobody waits for its answer any more. */
  leave(peer: PeerId, asker: string): void {
    const { member, own } = this.#entered(peer, asker);
    member.waiting -= 1;
    own.waiting -= 1;
  }

  #entered(peer: PeerId, asker: string): { readonly member: OfMember; readonly own: Count } {
    const member = this.#members.get(peer);
    const own = member?.askers.get(asker);
    assert(member !== undefined && own !== undefined, () => `${asker} has asked member ${peer}`);
    return { member, own };
  }
}

function newMember(): OfMember {
  return { asked: 0, waiting: 0, secondMs: Number.NEGATIVE_INFINITY, askers: new Map() };
}

function startSecond(member: OfMember, nowMs: number): void {
  member.secondMs = nowMs;
  member.asked = 0;
  for (const [asker, count] of member.askers) {
    count.asked = 0;
    if (count.waiting === 0) member.askers.delete(asker);
  }
}
