/**
 * What follows from who has room, to the millisecond: whom a leader does without, when it refuses
 * data and hands over, and how long a member with a full disk leaves the others alone.
 *
 * Method: the rules of a leader are asked directly; the rest is the core of member 1 alone, which
 * is told what the others say. H is 1,000 ms.
 */
import {
  type CoreMessage,
  makeZxid,
  type PeerId,
  ProposalBatch,
  type VoteMessage,
  WIRE_VERSION_MAX,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { TRY_AGAIN_MS } from './given-up.js';
import { Learner, Learners } from './learner.js';
import type { Link } from './replica.js';
import { Replica } from './replica.js';
import { LASTING_MS, LeadersRoom } from './room.js';
import type { DiskRoom, ZabInput, ZabOutput } from './types.js';
import { Zab } from './zab.js';

const H_MS = 1_000;
const PATIENCE_MS = H_MS + LASTING_MS;

function optionsOf(members: readonly PeerId[]) {
  return {
    id: 1,
    members,
    heartbeatMs: 100,
    peerTimeoutMs: H_MS,
    settleMs: 200,
    initTimeoutMs: 5_000,
    syncTimeoutMs: 5_000,
    windowBytesMax: 1_000,
    learnerWindowBytesMax: 1_000,
    deliveryBytesMax: 1_000,
    chunkBytesMax: 1_000,
    newEnsembleId: 'new',
    newIdentity: 7,
    foundWithQuorum: false,
  };
}

const DISK = {
  acceptedEpoch: 5,
  currentEpoch: 5,
  ensembleId: 'E',
  founded: true,
  sound: true,
  applied: makeZxid(5, 0),
  history: { base: makeZxid(5, 0), ranges: [] },
  suffix: [],
  lineage: [],
};

const VOTE: VoteMessage = {
  kind: 'vote',
  state: 'looking',
  round: 1,
  leader: 0,
  epoch: 5,
  zxid: makeZxid(4, 0),
  ensembleId: 'E',
  founded: true,
  sound: true,
};

describe('a leader', () => {
  /** Member 1 leads; every other member is a synced learner with room since 0 ms. */
  class TestLeader {
    readonly member: Replica;
    readonly learners: Learners;
    readonly room: LeadersRoom;
    /** Learners of which nothing is heard any more. */
    readonly silent = new Set<PeerId>();

    constructor(size: number) {
      const members = Array.from({ length: size }, (_, index) => index + 1);
      this.member = new Replica(optionsOf(members), DISK);
      this.learners = new Learners(this.member);
      this.room = new LeadersRoom(this.member, this.learners);
      for (const id of members.slice(1)) this.join(id);
      this.at(10_000);
    }

    join(id: PeerId, { roomSinceMs = 0, synced = true } = {}): void {
      const times = { heardAtMs: 0, contactAtMs: 0, echo: 0, roomSinceMs };
      const vote = { ...VOTE, state: 'following', leader: 1 } as const;
      const link: Link = {
        peer: id,
        link: id,
        version: WIRE_VERSION_MAX,
        ...times,
        vote,
        offeredEpoch: null,
        streaming: false,
      };
      this.member.links.set(id, link);
      const learner = new Learner(link, true, 5);
      learner.synced = synced;
      this.learners.set(learner);
    }

    at(nowMs: number) {
      this.member.nowMs = nowMs;
      for (const link of this.member.links.values()) {
        if (!this.silent.has(link.peer)) link.heardAtMs = nowMs;
      }
      this.room.judge();
      const { spares, refuses, full, mayHandOver } = this.room;
      return { spares, refuses, full, mayHandOver };
    }

    fill(id: PeerId, full = true): void {
      const link = this.member.linkOf(id);
      if (link?.vote == null) throw new Error(`there is a link to ${id}`);
      link.vote = { ...link.vote, full };
      link.roomSinceMs = this.member.nowMs;
    }

    stepOut(id: PeerId): void {
      this.learners.delete(id);
    }
  }

  const NOTHING = { spares: [], refuses: false, full: [], mayHandOver: false };

  it('does without a full member once that has lasted, and refuses nothing meanwhile', () => {
    const leader = new TestLeader(3);
    leader.fill(2);
    expect(leader.at(10_000 + LASTING_MS - 1)).toEqual(NOTHING);
    expect(leader.at(10_000 + LASTING_MS)).toEqual({ ...NOTHING, spares: [2] });
    leader.stepOut(2);
    expect(leader.at(90_000)).toEqual({ ...NOTHING, spares: [2] });
    leader.fill(2, false);
    expect(leader.at(90_001)).toEqual(NOTHING);
  });

  it('relies on room only once that has lasted, too', () => {
    const leader = new TestLeader(3);
    leader.fill(2);
    leader.fill(3);
    expect(leader.at(20_000)).toEqual({ ...NOTHING, refuses: true, full: [2, 3] });
    leader.fill(3, false);
    expect(leader.at(20_000)).toEqual(NOTHING);
    expect(leader.at(20_000 + LASTING_MS - 1)).toEqual(NOTHING);
    expect(leader.at(20_000 + LASTING_MS)).toEqual({ ...NOTHING, spares: [2] });
  });

  it('refuses data, and does without nobody, once those with room are no quorum', () => {
    const leader = new TestLeader(3);
    leader.fill(2);
    leader.at(20_000);
    leader.stepOut(2);
    leader.fill(3);
    expect(leader.at(20_001)).toEqual({ ...NOTHING, refuses: true, full: [3] });
  });

  it('asks for a full member again while another has been silent for half of H', () => {
    const leader = new TestLeader(3);
    leader.fill(2);
    leader.at(20_000);
    leader.stepOut(2);
    leader.silent.add(3);
    expect(leader.at(20_000 + H_MS / 2)).toEqual({ ...NOTHING, spares: [2] });
    expect(leader.at(20_001 + H_MS / 2)).toEqual(NOTHING);
    leader.join(2);
    leader.fill(2);
    expect(leader.at(20_002 + H_MS / 2)).toEqual({ ...NOTHING, refuses: true, full: [2] });
    leader.silent.clear();
    expect(leader.at(22_500 + H_MS / 2)).toEqual({ ...NOTHING, spares: [2] });
  });

  it('refuses nothing while nobody who would write it is full', () => {
    const leader = new TestLeader(5);
    for (const id of [2, 3]) leader.fill(id);
    leader.at(20_000);
    for (const id of [2, 3, 4]) leader.stepOut(id);
    expect(leader.at(20_001)).toEqual(NOTHING);
  });

  it('does not rely on the room of a learner that is not synced yet', () => {
    const leader = new TestLeader(3);
    leader.join(3, { synced: false });
    leader.fill(2);
    expect(leader.at(20_000)).toEqual({ ...NOTHING, refuses: true, full: [2] });
  });

  it('keeps out whom it does without while another full member has to wait', () => {
    const leader = new TestLeader(5);
    leader.fill(2);
    leader.at(20_000);
    leader.fill(3);
    expect(leader.at(20_001)).toEqual({ ...NOTHING, spares: [2] });
    expect(leader.at(20_000 + LASTING_MS)).toEqual({ ...NOTHING, spares: [2, 3] });
  });

  it('hands over once its own shortage and the room of a quorum of others have lasted', () => {
    const leader = new TestLeader(3);
    leader.member.room = 'full';
    expect(leader.at(10_000 + LASTING_MS - 1)).toEqual(NOTHING);
    expect(leader.at(10_000 + LASTING_MS)).toEqual({ ...NOTHING, mayHandOver: true });
    leader.fill(2);
    expect(leader.at(20_000)).toEqual({ ...NOTHING, refuses: true, full: [2] });
  });

  it('that leads again after it handed over refuses data, and waits for a minute', () => {
    const leader = new TestLeader(3);
    leader.member.room = 'full';
    leader.member.handedOverAtMs = 15_000;
    expect(leader.at(15_000 + TRY_AGAIN_MS - 1)).toEqual({ ...NOTHING, refuses: true });
    expect(leader.at(15_000 + TRY_AGAIN_MS)).toEqual({ ...NOTHING, mayHandOver: true });
    leader.member.room = 'enough';
    expect(leader.at(15_001)).toEqual(NOTHING);
  });

  it('hands over again at once if it had room in between', () => {
    const leader = new TestLeader(3);
    leader.at(10_000);
    leader.member.room = 'full';
    leader.member.handedOverAtMs = 12_000;
    expect(leader.at(13_000)).toEqual({ ...NOTHING, refuses: true });
    leader.member.room = 'enough';
    expect(leader.at(14_000)).toEqual(NOTHING);
    leader.member.room = 'full';
    expect(leader.at(14_000 + LASTING_MS)).toEqual({ ...NOTHING, mayHandOver: true });
  });

  it('alone refuses while its disk is full', () => {
    const leader = new TestLeader(1);
    leader.member.room = 'full';
    expect(leader.at(90_000)).toEqual({ ...NOTHING, refuses: true });
  });
});

/** The core of member 1 with a full disk, whose writes are done at once. */
class TestMember {
  readonly outputs: ZabOutput[] = [];
  /** Whether the disk completes nothing. */
  isStuck = false;
  readonly #zab: Zab;
  #nowMs = 0;

  constructor(members: readonly PeerId[], disk: Partial<typeof DISK> = {}) {
    this.#zab = new Zab(optionsOf(members), { ...DISK, ...disk });
    this.at(10_000);
    this.step({ kind: 'room', room: 'full' });
    for (const peer of members.slice(1)) this.connect(peer);
  }

  get role(): string {
    return this.#zab.role;
  }
  get sparedBy(): PeerId {
    return this.#zab.sparedBy;
  }
  get waitsFor(): string | null {
    return this.#zab.waitsFor;
  }
  /** The member for which its last vote is. */
  get votesFor(): PeerId | null {
    const votes = this.outputs.flatMap((output) =>
      output.kind === 'send' && output.message.kind === 'vote' ? [output.message] : [],
    );
    return votes.at(-1)?.leader ?? null;
  }

  connect(peer: PeerId, version = WIRE_VERSION_MAX): void {
    this.step({ kind: 'connected', peer, link: 100 * version + peer, version });
    this.#links.set(peer, 100 * version + peer);
  }

  readonly #links = new Map<PeerId, number>();

  at(nowMs: number): void {
    for (; this.#nowMs < nowMs; ) {
      this.#nowMs = Math.min(nowMs, this.#nowMs + 100);
      for (const [peer, link] of this.#links) this.step({ kind: 'heard', peer, link });
      this.step({ kind: 'tick', nowMs: this.#nowMs });
    }
  }

  hear(peer: PeerId, vote: Partial<VoteMessage>): void {
    const link = this.#links.get(peer) ?? 0;
    this.step({ kind: 'message', peer, link, message: { ...VOTE, ...vote } });
  }

  step(input: ZabInput): void {
    for (const output of this.#zab.step(input)) {
      this.outputs.push(output);
      if ('ticket' in output && !this.isStuck)
        this.step({ kind: 'persisted', ticket: output.ticket });
    }
  }
}

describe('a member with a full disk that looks for a leader', () => {
  const LEADS = { state: 'leading', leader: 2 } as const;
  const FOLLOWS = { state: 'following', leader: 2 } as const;

  it('leaves a leader alone that does without it, for as long as that is so', () => {
    const member = new TestMember([1, 2, 3]);
    member.hear(2, { ...LEADS, spares: [1] });
    member.at(700_000);
    expect([member.role, member.sparedBy, member.votesFor]).toEqual(['looking', 2, 0]);
    member.hear(2, LEADS);
    expect([member.role, member.sparedBy]).toEqual(['following', 0]);
  });

  it('is spared from the announcement of its leader to the end of that leadership', () => {
    const member = new TestMember([1, 2, 3]);
    member.hear(3, FOLLOWS);
    member.hear(2, LEADS);
    expect(member.sparedBy).toBe(0);
    member.hear(2, { ...LEADS, spares: [3] });
    expect(member.sparedBy, 'another one is spared').toBe(0);
    member.hear(2, { ...LEADS, spares: [1] });
    expect(member.sparedBy).toBe(2);
    member.connect(2, WIRE_VERSION_MAX + 1);
    expect(member.sparedBy, 'nothing is heard on the new connection yet').toBe(0);
    member.hear(2, { ...LEADS, spares: [1] });
    expect(member.sparedBy).toBe(2);
    member.hear(2, { leader: 2, spares: [] });
    expect([member.role, member.sparedBy], 'it leads no longer').toEqual(['looking', 0]);
  });

  it('is spared although its disk still writes what came before', () => {
    const member = new TestMember([1, 2, 3]);
    member.hear(2, LEADS);
    expect(member.role).toBe('following');
    member.isStuck = true;
    const link = 100 * WIRE_VERSION_MAX + 2;
    const newEpoch = { kind: 'newEpoch', epoch: 6, established: true } as const;
    member.step({ kind: 'message', peer: 2, link, message: newEpoch });
    member.hear(2, { ...LEADS, spares: [1] });
    expect([member.role, member.sparedBy]).toEqual(['looking', 2]);
  });

  it('follows that leader as soon as it has room', () => {
    const member = new TestMember([1, 2, 3]);
    member.hear(2, { ...LEADS, spares: [1] });
    member.step({ kind: 'room', room: 'enough' });
    expect([member.role, member.sparedBy]).toEqual(['following', 0]);
  });

  it('leaves a leader alone for a while that those with room back, since it may do without it', () => {
    const member = new TestMember([1, 2, 3]);
    member.hear(3, FOLLOWS);
    member.hear(2, LEADS);
    member.at(10_000 + PATIENCE_MS);
    // Nobody has said yet that the ensemble goes on without it.
    expect([member.role, member.sparedBy]).toEqual(['looking', 0]);
    expect(member.waitsFor).toBe('the disk is full, and leader 2 may do without this member');
    member.at(10_001 + PATIENCE_MS);
    expect(member.role).toBe('following');
  });

  it('follows a leader at once that no longer does without it, whoever backs that one', () => {
    const member = new TestMember([1, 2, 3]);
    member.hear(3, FOLLOWS);
    member.hear(2, { ...LEADS, spares: [1] });
    member.at(60_000);
    member.hear(2, LEADS);
    expect([member.role, member.sparedBy]).toEqual(['following', 0]);
  });

  it('has this patience again with the next leader', () => {
    const member = new TestMember([1, 2, 3]);
    member.hear(3, FOLLOWS);
    member.hear(2, { ...LEADS, spares: [1] });
    member.at(60_000);
    member.hear(2, { ...FOLLOWS, leader: 3 });
    member.hear(3, { ...LEADS, leader: 3 });
    member.at(60_000 + PATIENCE_MS);
    expect(member.role).toBe('looking');
    member.at(60_001 + PATIENCE_MS);
    expect(member.role).toBe('following');
  });

  it('has this patience again with a leader on a new connection', () => {
    const member = new TestMember([1, 2, 3]);
    member.hear(3, FOLLOWS);
    member.hear(2, { ...LEADS, spares: [1] });
    member.at(60_000);
    member.connect(2, WIRE_VERSION_MAX + 1);
    member.hear(2, LEADS);
    member.at(60_000 + PATIENCE_MS);
    expect(member.role).toBe('looking');
  });

  it.each([
    ['is full itself', 2, { full: true }],
    ['has a follower that is full', 3, { full: true }],
    ['has no follower', 3, { state: 'looking', leader: 3 }],
    ['has not founded yet', 2, { founded: false }],
    ['has a follower without a vote', 3, { sound: false }],
  ] as const)('follows a leader at once that %s', (_, whose, change) => {
    const member = new TestMember([1, 2, 3]);
    member.hear(3, { ...FOLLOWS, ...(whose === 3 ? change : {}) });
    member.hear(2, { ...LEADS, ...(whose === 2 ? change : {}) });
    expect(member.role).toBe('following');
  });

  it('votes at once for the best one that has room, and decides nothing', () => {
    const member = new TestMember([1, 2, 3, 4, 5]);
    member.hear(2, { leader: 2, zxid: makeZxid(4, 1) });
    member.hear(3, { leader: 3, zxid: makeZxid(4, 2) });
    member.hear(5, { leader: 5, zxid: makeZxid(4, 9), full: true });
    expect(member.votesFor, 'two of five with room are no quorum').toBe(1);
    member.hear(4, { leader: 4, zxid: makeZxid(4, 0) });
    expect(member.votesFor).toBe(3);
    for (const peer of [2, 3, 4]) member.hear(peer, { leader: 3, zxid: makeZxid(4, 2) });
    member.at(10_000 + PATIENCE_MS);
    expect([member.role, member.votesFor]).toEqual(['looking', 3]);
  });

  it('stands with its newer history once it has let the others try', () => {
    const member = new TestMember([1, 2, 3]);
    for (const peer of [2, 3]) member.hear(peer, { leader: peer });
    member.at(10_000 + PATIENCE_MS);
    expect(member.votesFor).toBe(3);
    member.at(10_001 + PATIENCE_MS);
    expect(member.votesFor).toBe(1);
  });

  it('stands after it has followed in vain three times, though the others never agree', () => {
    const member = new TestMember([1, 2, 3]);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      for (const peer of [2, 3]) member.hear(peer, { round: 10 * attempt, leader: peer });
      expect(member.votesFor, `attempt ${attempt}`).toBe(3);
      member.hear(3, { ...LEADS, round: 10 * attempt, leader: 3 });
      expect(member.role).toBe('following');
      member.hear(3, { round: 10 * attempt, leader: 3 });
      expect(member.role).toBe('looking');
    }
    for (const peer of [2, 3]) member.hear(peer, { round: 40, leader: peer });
    expect(member.votesFor).toBe(1);
  });

  it('stands at a founding, which needs every member', () => {
    const empty = { ensembleId: '', founded: false };
    const member = new TestMember([1, 2, 3], empty);
    for (const peer of [2, 3]) member.hear(peer, { leader: peer, epoch: 0, ...empty });
    expect(member.votesFor).toBe(1);
  });
});

describe('a member that follows', () => {
  function following(): TestMember {
    const member = new TestMember([1, 2, 3]);
    member.hear(2, { state: 'leading', leader: 2 });
    expect(member.role).toBe('following');
    return member;
  }

  it('steps out when its leader does without it, and only if it is full', () => {
    const member = following();
    member.hear(2, { state: 'leading', leader: 2, spares: [3] });
    expect(member.role).toBe('following');
    member.step({ kind: 'room', room: 'enough' });
    member.hear(2, { state: 'leading', leader: 2, spares: [1] });
    expect(member.role).toBe('following');
    // It would follow again at once.
    const steppedOut = expect.objectContaining({ event: 'disk.stepped_out' });
    expect(member.outputs).not.toContainEqual(steppedOut);
    member.step({ kind: 'room', room: 'full' });
    member.hear(2, { state: 'leading', leader: 2, spares: [1, 3] });
    expect([member.role, member.sparedBy]).toEqual(['looking', 2]);
  });

  describe('whose transfer lacks room', () => {
    const LEADS = { state: 'leading', leader: 2 } as const;
    const NEW_EPOCH = { kind: 'newEpoch', epoch: 6, established: true } as const;
    const SNAP = {
      kind: 'syncStart',
      mode: 'snap',
      after: 0,
      lineage: [],
      diverged: false,
    } as const;
    const DIFF = { ...SNAP, mode: 'diff', after: makeZxid(5, 0) } as const;

    /** It follows whoever leads, and hears from it what is to come. */
    class Learning extends TestMember {
      #version = WIRE_VERSION_MAX;
      #leader: PeerId = 2;

      constructor(room: DiskRoom, disk: Partial<typeof DISK> = {}) {
        super([1, 2, 3], disk);
        this.step({ kind: 'room', room });
      }

      /** Leads on a new connection, as after each transfer that was given up. */
      hearLeader(leader: PeerId = 2): void {
        this.#leader = leader;
        this.#version += 1;
        this.connect(leader, this.#version);
        this.hear(leader, { ...LEADS, leader });
      }

      hearMessage(message: CoreMessage): void {
        const link = 100 * this.#version + this.#leader;
        this.step({ kind: 'message', peer: this.#leader, link, message });
      }

      begin(start: typeof SNAP | typeof DIFF, newEpoch: CoreMessage = NEW_EPOCH): void {
        expect(this.role).toBe('following');
        this.hearMessage(newEpoch);
        this.hearMessage(start);
      }

      hearProposal(counter = 1): void {
        const zxid = makeZxid(5, counter);
        const body = Buffer.from('x');
        const batch = ProposalBatch.of([{ zxid, previous: makeZxid(5, counter - 1), body }]);
        this.hearMessage({ kind: 'propose', batch });
      }

      get hasAppended(): boolean {
        return this.outputs.some(({ kind }) => kind === 'append');
      }
    }

    /** A snapshot of member 2 that was given up at 10,000 ms. */
    function withoutRoom(disk: Partial<typeof DISK> = {}): Learning {
      const member = new Learning('full', disk);
      member.hearLeader();
      member.begin(SNAP);
      expect(member.role).toBe('following');
      member.step({ kind: 'room', room: 'scarce' });
      expect(member.role).toBe('looking');
      return member;
    }

    it('gives up a snapshot for which there is no room, for a minute', () => {
      const member = withoutRoom();
      const dropped = expect.objectContaining({ kind: 'disconnect', peer: 2 });
      expect(member.outputs).toContainEqual(dropped);
      member.hearLeader();
      member.step({ kind: 'room', room: 'full' });
      member.at(10_000 + TRY_AGAIN_MS - 1);
      expect([member.role, member.sparedBy]).toEqual(['looking', 0]);
      member.at(10_000 + TRY_AGAIN_MS);
      expect(member.role).toBe('following');
    });

    it('gives it up before it discards a history for it', () => {
      const member = new Learning('scarce');
      member.hearLeader();
      member.hearMessage(NEW_EPOCH);
      member.hearMessage({ ...SNAP, diverged: true });
      expect(member.role).toBe('looking');
      expect(member.outputs.some(({ kind }) => kind === 'giveUp')).toBe(false);
    });

    it('lets another leader try at once, which may do without a snapshot', () => {
      const member = withoutRoom();
      member.hearLeader(3);
      member.begin(DIFF);
      expect(member.role).toBe('following');
    });

    it('lets no other leader try while it needs a snapshot from any', () => {
      const member = withoutRoom({ sound: false });
      member.hearLeader(3);
      expect(member.role).toBe('looking');
      expect(member.waitsFor).toContain('there was no room for the snapshot of a leader');
    });

    it('takes the snapshot as soon as there is room, however often it had none before', () => {
      const member = withoutRoom();
      for (let minute = 1; minute <= 3; minute += 1) {
        member.hearLeader();
        member.at(10_000 + minute * TRY_AGAIN_MS);
        member.begin(SNAP);
        expect(member.role).toBe('looking');
      }
      member.hearLeader();
      member.step({ kind: 'room', room: 'enough' });
      member.begin(SNAP);
      expect(member.role).toBe('following');
    });

    it.each([
      ['room gets scarce', (member: Learning) => member.step({ kind: 'room', room: 'scarce' })],
      [
        'its leader goes on without it',
        (member: Learning) => {
          member.step({ kind: 'room', room: 'full' });
          member.hear(2, { ...LEADS, spares: [1] });
        },
      ],
    ])('waits for a minute once two snapshots that began with room ended since %s', (_, end) => {
      const member = new Learning('enough');
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        member.hearLeader();
        member.begin(SNAP);
        end(member);
        expect(member.role).toBe('looking');
        // The snapshot has been removed.
        member.step({ kind: 'room', room: 'enough' });
      }
      member.hearLeader();
      expect(member.role).toBe('looking');
      member.at(10_000 + TRY_AGAIN_MS);
      expect(member.role).toBe('following');
    });

    it('takes a snapshot at once again for which room did not suffice once, after a log', () => {
      const member = new Learning('enough');
      for (const start of [DIFF, SNAP]) {
        member.hearLeader();
        member.begin(start);
        member.step({ kind: 'room', room: 'scarce' });
        if (start === DIFF) member.hearProposal();
        expect(member.role).toBe('looking');
        member.step({ kind: 'room', room: 'enough' });
      }
      member.hearLeader();
      expect(member.role).toBe('following');
    });

    it('gives up a log whose leader has a quorum without it, until room is scarce no more', () => {
      const member = new Learning('scarce');
      member.hearLeader();
      member.begin(DIFF);
      expect(member.role).toBe('following');
      member.hearProposal();
      expect([member.role, member.hasAppended]).toEqual(['looking', false]);
      member.hearLeader();
      member.at(10_000 + TRY_AGAIN_MS - 1);
      expect(member.role).toBe('looking');
      expect(member.waitsFor).toContain('there was no room for the log of a leader');
      member.step({ kind: 'room', room: 'full' });
      member.begin(DIFF);
      member.hearProposal();
      expect([member.role, member.hasAppended]).toEqual(['following', true]);
    });

    it('gives up a log in the middle, and tries again after a minute', () => {
      const member = new Learning('full');
      member.hearLeader();
      member.begin(DIFF);
      member.hearProposal(1);
      member.step({ kind: 'room', room: 'scarce' });
      expect(member.role).toBe('following');
      member.hearProposal(2);
      expect(member.role).toBe('looking');
      member.hearLeader();
      member.at(10_000 + TRY_AGAIN_MS);
      expect(member.role).toBe('following');
    });

    it('takes the log of a leader that has lost its quorum, and needs this member for one', () => {
      const member = new Learning('scarce');
      member.hearLeader();
      member.begin(DIFF);
      member.hearProposal();
      member.hearLeader();
      expect(member.role).toBe('looking');
      member.hear(2, { state: 'looking', leader: 2 });
      member.hear(2, LEADS);
      member.begin(DIFF, { ...NEW_EPOCH, established: false });
      member.hearProposal();
      expect([member.role, member.hasAppended]).toEqual(['following', true]);
    });

    it('takes the log of a leader that needs it for a quorum', () => {
      const member = new Learning('scarce');
      member.hearLeader();
      member.begin(DIFF, { ...NEW_EPOCH, established: false });
      member.hearProposal();
      expect([member.role, member.hasAppended]).toEqual(['following', true]);
    });

    it('forgets what it gave up once it serves', () => {
      const member = withoutRoom();
      member.hearLeader(3);
      member.begin(DIFF);
      const [epoch, last] = [6, makeZxid(5, 0)];
      member.hearMessage({ kind: 'newLeader', epoch, last, ensembleId: 'E', leaseMs: H_MS });
      member.hearMessage({ kind: 'upToDate', committed: last });
      member.hear(3, { state: 'looking', leader: 3 });
      member.hearLeader(2);
      expect(member.role).toBe('following');
    });
  });
});
