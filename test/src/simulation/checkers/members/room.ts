/**
 * Property: data is refused where, and only where, members with room are no quorum, and who is
 * spared steps out. Source: docs/architecture/core.md, "Members without room".
 *
 * It costs a leader some seconds to learn who has room, and for how long: a disk is measured once a
 * second, room counts once it has lasted, and messages may be delayed. So each rule is checked only
 * where what it relies on has held for that time:
 * - A leader whose quorum has room, itself included or not, refuses nothing. One that has handed
 *   over in vain may refuse for a minute.
 * - A leader without such a quorum, one of whose members in sync is full, refuses data.
 * - No more members are spared than a quorum leaves out, and only full ones.
 * - A full member is spared while those with room are a quorum.
 * - A spared member does not follow, and logs nothing once it has stepped out.
 */
import type { PeerId, VoteMessage } from '@rookery/protocol';
import type { ZabOutput } from '../../../simulated.js';
import type { Checker, NewChecker, RunFacts } from '../../contract/checker.js';
import type { Gone, Reach, Started, Step } from '../../contract/observation.js';
import { broken } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

/** A value and since when a member has it. */
interface Since<T> {
  readonly is: T;
  readonly atMs: number;
}

interface MemberSeen {
  /** Whether its disk is full; null while it is down. */
  full: Since<boolean | null>;
  /** The leader in whose term it serves, itself included; 0 for none. */
  leader: Since<PeerId>;
  refuses: Since<boolean>;
  /** It was told last that it is spared. */
  spares: ReadonlyMap<PeerId, number>;
  /** Since when it reaches each of the others, which it does at present. */
  reaches: ReadonlyMap<PeerId, number>;
  handedOverAtMs: number;
  hasSteppedOut: boolean;
}

/** A measurement of a disk, and how long room must have lasted. */
const NOTICES_MS = 2_500;
/** zab/room.ts: TRY_AGAIN_MS. */
const TRY_AGAIN_MS = 60_000;

class Room implements Checker {
  readonly property =
    'data is refused where members with room are no quorum, and who is spared steps out';
  readonly #members: MemberTable<MemberSeen>;
  /** For how long what a rule relies on must have held. */
  readonly #lastingMs: number;

  constructor({ members, peerTimeoutMs, latencyMaxMs, delayMaxMs = 0 }: RunFacts) {
    this.#lastingMs = NOTICES_MS + 4 * peerTimeoutMs + 2 * (latencyMaxMs + delayMaxMs);
    this.#members = new MemberTable(members, () => ({
      full: { is: null, atMs: 0 },
      leader: { is: 0, atMs: 0 },
      refuses: { is: false, atMs: 0 },
      spares: new Map(),
      reaches: new Map(),
      handedOverAtMs: Number.NEGATIVE_INFINITY,
      hasSteppedOut: false,
    }));
  }

  onStarted({ member, atMs }: Started): void {
    const seen = this.#members.of(member);
    seen.full = { is: false, atMs };
    seen.handedOverAtMs = Number.NEGATIVE_INFINITY;
    seen.hasSteppedOut = false;
    endRole(seen, atMs);
  }

  onGone({ member, atMs }: Gone): void {
    const seen = this.#members.of(member);
    seen.full = { is: null, atMs };
    endRole(seen, atMs);
  }

  onReach({ member, reaches, atMs }: Reach): void {
    const seen = this.#members.of(member);
    seen.reaches = new Map(reaches.map((other) => [other, seen.reaches.get(other) ?? atMs]));
  }

  onStep(step: Step): void {
    const { input, outputs, atMs, member } = step;
    const seen = this.#members.of(member);
    if (input.kind === 'room') {
      const isFull = input.room !== 'enough';
      if (isFull !== seen.full.is) seen.full = { is: isFull, atMs };
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output !== undefined) this.#onOutput(step, seen, output);
    }
    if (input.kind !== 'tick') return;
    if (seen.leader.is === member) this.#judgeLeader(step, seen);
    else if (seen.leader.is !== 0) this.#judgeFollower(step, seen);
  }

  #onOutput(step: Step, seen: MemberSeen, output: ZabOutput): void {
    const { atMs, member } = step;
    switch (output.kind) {
      case 'role':
        if (output.role === 'looking') return endRole(seen, atMs);
        seen.leader = { is: output.role === 'leading' ? member : output.leader, atMs };
        return;
      case 'refusal':
        if (output.isOn !== seen.refuses.is) seen.refuses = { is: output.isOn, atMs };
        return;
      case 'note':
        if (output.event === 'disk.hands_over') seen.handedOverAtMs = atMs;
        else if (output.event === 'disk.stepped_out') seen.hasSteppedOut = true;
        else if (output.event.startsWith('role.')) seen.hasSteppedOut = isStill(seen, output);
        return;
      case 'append':
        if (!seen.hasSteppedOut) return;
        throw broken(this.property, step, 'logs proposals, although it has stepped out');
      case 'send':
        if (output.message.kind === 'vote') this.#onVote(step, seen, output.message);
        return;
      default:
        return;
    }
  }

  #onVote(step: Step, seen: MemberSeen, { spares = [], state }: VoteMessage): void {
    const { atMs } = step;
    const told = state === 'leading' ? spares : [];
    const most = this.#members.all.length - this.#members.quorum;
    if (told.length > most) {
      const what = `does without members ${told.join(', ')}: the others are no quorum`;
      throw broken(this.property, step, what);
    }
    seen.spares = new Map(told.map((id) => [id, seen.spares.get(id) ?? atMs]));
  }

  #judgeLeader(step: Step, seen: MemberSeen): void {
    const { member, atMs } = step;
    const { refuses } = seen;
    for (const id of seen.spares.keys()) {
      const { full } = this.#members.of(id);
      if (full.is !== false || !this.#isLasting(full, atMs)) continue;
      if (!this.#isInTouch(member, id, atMs)) continue;
      throw broken(this.property, step, `does without member ${id}, which has room`);
    }
    if (!this.#isLasting(seen.leader, atMs)) return;
    const inSync = this.#those((id, one) => this.#serves(id, one, member, atMs));
    const withRoom = inSync.filter((id) => this.#members.of(id).full.is === false);
    const full = inSync.filter((id) => this.#members.of(id).full.is === true);
    const hasHandedOver = atMs - seen.handedOverAtMs <= TRY_AGAIN_MS + this.#lastingMs;
    if (withRoom.length >= this.#members.quorum && !hasHandedOver) {
      const kept = full.filter((id) => id !== member && !seen.spares.has(id));
      if (!refuses.is || !this.#isLasting(refuses, atMs)) {
        return this.#mustDoWithout(step, kept, withRoom);
      }
      const what = `has refused data since ${refuses.atMs} ms; ${withRoom.join(', ')} have room`;
      throw broken(this.property, step, what);
    }
    if (refuses.is || full.length === 0 || !this.#isLasting(refuses, atMs)) return;
    const mayHaveRoom = this.#those((_, { full }) => {
      return full.is === false || !this.#isLasting(full, atMs);
    });
    if (mayHaveRoom.length >= this.#members.quorum) return;
    const what = `refuses no data; ${full.join(', ')} are full, only ${mayHaveRoom.length} are not`;
    throw broken(this.property, step, what);
  }

  /** These had room for long, and together: a full member follows only a moment longer. */
  #mustDoWithout(step: Step, full: readonly PeerId[], withRoom: readonly PeerId[]): void {
    const sinceMs = Math.max(...withRoom.map((id) => this.#members.of(id).full.atMs));
    const late = full.find((id) => {
      const { full: disk, leader } = this.#members.of(id);
      const fromMs = Math.max(disk.atMs, leader.atMs, sinceMs);
      return step.atMs - fromMs >= 2 * this.#lastingMs;
    });
    if (late === undefined) return;
    const what = `does not do without ${late}, which is full, and ${withRoom.join(', ')} are not`;
    throw broken(this.property, step, what);
  }

  #judgeFollower(step: Step, seen: MemberSeen): void {
    const { member, atMs } = step;
    const leader = this.#members.of(seen.leader.is);
    const sparedAtMs = leader.spares.get(member) ?? Number.POSITIVE_INFINITY;
    if (leader.leader.is !== seen.leader.is || atMs - sparedAtMs < this.#lastingMs) return;
    if (!this.#isLasting(seen.leader, atMs) || !this.#isLasting(seen.full, atMs)) return;
    if (!this.#isInTouch(seen.leader.is, member, atMs)) return;
    const what = `follows ${seen.leader.is}, which does without it since ${sparedAtMs} ms`;
    throw broken(this.property, step, what);
  }

  #those(is: (id: PeerId, seen: MemberSeen) => boolean): readonly PeerId[] {
    return this.#members.all.flatMap((seen, at) => (is(at + 1, seen) ? [at + 1] : []));
  }

  /** It has served this leader, in touch with it and with a disk like now, for long. */
  #serves(id: PeerId, { full, leader }: MemberSeen, of: PeerId, atMs: number): boolean {
    if (leader.is !== of || !this.#isLasting(leader, atMs)) return false;
    return this.#isLasting(full, atMs) && this.#isInTouch(of, id, atMs);
  }

  #isInTouch(leader: PeerId, id: PeerId, atMs: number): boolean {
    if (id === leader) return true;
    const sinceMs = this.#members.of(leader).reaches.get(id) ?? Number.POSITIVE_INFINITY;
    return atMs - sinceMs >= this.#lastingMs;
  }

  #isLasting({ atMs: sinceMs }: Since<unknown>, atMs: number): boolean {
    return atMs - sinceMs >= this.#lastingMs;
  }
}

function endRole(seen: MemberSeen, atMs: number): void {
  seen.leader = { is: 0, atMs };
  seen.refuses = { is: false, atMs };
  seen.spares = new Map();
}

/** It is over once it follows or leads again. */
function isStill(seen: MemberSeen, { event }: { readonly event: string }): boolean {
  return seen.hasSteppedOut && event === 'role.looking';
}

export const newRoom: NewChecker = (facts) => new Room(facts);
