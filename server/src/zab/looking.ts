/**
 * The role of a member that has no leader: election.
 *
 * A vote is (currentEpoch, last zxid, id), and the highest wins. Safety does not rest on election:
 * discovery and synchronization ensure it. What counts is each reachable peer's newest vote in this
 * round, and the own vote is computed anew from them, so nothing stale is ever held on to
 * (ZOOKEEPER-1817). It ends at once when every reachable voter agrees, otherwise after a settling
 * time.
 */
import {
  type CoreMessage,
  formatZxid,
  type PeerId,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import { absentText } from './absent.js';
import { counts, type Electorate, electorateOf } from './discovery.js';
import { majorityOf, type Quorums } from './quorum.js';
import type { Link, Replica } from './replica.js';
import type { Role, Transitions } from './role.js';
import { hasRoom, Standby } from './room.js';

interface Candidate {
  readonly leader: PeerId;
  readonly epoch: number;
  readonly zxid: Zxid;
}

/** A lasting trouble is logged again after this time, so it is near the end of the log. */
const TELL_AGAIN_MS = 60_000;

/** Advice for an operator when fewer than a quorum still have their disks. */
const MAJORITY_LOST =
  'the disks of a majority are lost, so nobody can be elected, and nothing is lost by waiting: ' +
  'bring back the last data directory of one of those members, never an older copy; or stop all ' +
  'members and make a new ensemble of what is left, on empty directories, with `rookery ' +
  'recover`: writes that only the lost members had are gone then';

const NOBODY: Candidate = { leader: 0, epoch: 0, zxid: 0 };

export class Looking implements Role {
  readonly name = 'looking';
  readonly isDoubtful = false;
  readonly #replica: Replica;
  readonly #transitions: Transitions;
  readonly #standby: Standby;
  #candidate: Candidate = NOBODY;
  /** False until all earlier storage outputs are durable. */
  #started = false;
  #settleAtMs: number | null = null;
  #votedAtMs = 0;
  #startedAtMs = 0;
  /** Why nobody can be elected now, and what the log already says about it. */
  #reason = '';
  #toldReason = '';
  #toldAtMs = 0;

  constructor(member: Replica, transitions: Transitions) {
    this.#replica = member;
    this.#transitions = transitions;
    this.#standby = new Standby(member);
  }

  /** The leader that says that it does without this member, whose disk is full; 0 for none. */
  get sparedBy(): PeerId {
    const leader = this.#establishedLeader();
    return leader !== null && this.#standby.isSparedBy(leader) ? leader.leader : 0;
  }

  /**
   * A vote shows this member's history, so it waits until everything appended before is durable.
   * The end of the term is announced at once: if the disk hangs, others must not keep following.
   */
  start(): void {
    if (this.#replica.writingSinceMs !== null) this.#broadcast();
    this.#replica.tickets.after(this.#replica.tickets.newest, () => {
      this.#started = true;
      this.#startedAtMs = this.#replica.nowMs;
      this.#replica.round += 1;
      this.#evaluate(true);
    });
  }

  /** Why nobody can be elected now; null while nothing stands against it. */
  get waitsFor(): string | null {
    return this.#reason === '' ? null : this.#reason;
  }

  vote(): VoteMessage {
    return this.#replica.vote('looking', this.#candidate);
  }

  onTick(): void {
    if (!this.#started) return;
    if (this.#replica.nowMs - this.#votedAtMs >= this.#replica.options.heartbeatMs)
      this.#broadcast();
    this.#evaluate();
    this.#maybeTellReason();
  }

  onConnected(link: Link): void {
    this.#replica.send(link, this.vote());
    if (this.#started) this.#evaluate();
  }

  onDisconnected(): void {
    if (this.#started) this.#evaluate();
  }

  onVote(link: Link): void {
    if (!this.#started || link.vote === null) return;
    const { vote } = link;
    if (vote.state === 'looking' && vote.round > this.#replica.round) {
      this.#replica.round = vote.round;
      this.#settleAtMs = null;
      this.#evaluate(true);
      return;
    }
    if (vote.state === 'looking' && vote.round < this.#replica.round) {
      this.#replica.send(link, this.vote());
    }
    this.#evaluate();
  }

  /** Links keep an offer to follow. Every other message comes too early or too late. */
  onMessage(link: Link, message: CoreMessage): void {
    if (message.kind === 'followerInfo') {
      if (this.#started) this.#evaluate();
      return;
    }
    this.#replica.note('looking.ignored', { peer: link.peer, message: message.kind });
  }

  onRoom(): void {
    this.#broadcast();
    if (this.#started) this.#evaluate();
  }

  onProgress(): void {
    // After its start this role waits neither for storage nor for the tree.
  }

  #broadcast(): void {
    this.#votedAtMs = this.#replica.nowMs;
    this.#replica.sendToAll(this.vote());
  }

  /** Computes this member's vote, sends it if it changed or if `tell` is set, and may decide. */
  #evaluate(tell = false): void {
    const leader = this.#establishedLeader();
    if (leader !== null) return this.#maybeFollow(leader, tell);
    this.#reason = '';
    this.#replica.countByAll();
    const electorate = electorateOf(this.#replica);
    const yields = this.#standby.yields(electorate);
    this.#choose(electorate.kind === 'none' ? NOBODY : this.#best(electorate, yields), tell);
    if (electorate.kind === 'none') this.#reason = electorate.reason;
    else if (yields) this.#settleAtMs = null;
    else this.#maybeDecide(electorate);
  }

  #maybeFollow(leader: VoteMessage, tell: boolean): void {
    const reason = this.#standby.declines(leader);
    if (reason === null) return this.#transitions.follow(leader.leader);
    this.#reason = reason;
    this.#choose(NOBODY, tell);
  }

  /** Votes for the candidate, and tells it if that is new or if `tell` is set. */
  #choose(candidate: Candidate, tell: boolean): void {
    const changed = !same(this.#candidate, candidate);
    this.#candidate = candidate;
    if (changed) this.#settleAtMs = null;
    if (changed || tell) this.#broadcast();
  }

  /** Follows a peer that says it leads, of two the newer one. Discovery checks its claim. */
  #establishedLeader(): VoteMessage | null {
    const { founded, ensembleId, links } = this.#replica;
    let newest: VoteMessage | null = null;
    for (const link of links.values()) {
      const vote = link.vote;
      if (vote?.state !== 'leading' || this.#replica.avoids(link.peer)) continue;
      if (founded && vote.ensembleId !== ensembleId) continue;
      if (newest === null || isBetter(vote, newest)) newest = vote;
    }
    return newest;
  }

  /**
   * The best candidate, by what each candidate says about itself. What peers say about a third
   * member does not count: two of them could keep a candidate alive that has long given up. A
   * member that `yields` looks for one with room.
   */
  #best(electorate: Electorate, yields: boolean): Candidate {
    const { id, currentEpoch, history, round, links } = this.#replica;
    const own: Candidate = { leader: id, epoch: currentEpoch, zxid: history.last };
    let best = !yields && this.#mayWin(electorate) ? own : NOBODY;
    for (const link of links.values()) {
      const vote = link.vote;
      if (vote === null || vote.state !== 'looking' || vote.leader !== link.peer) continue;
      if (vote.round !== round || !counts(this.#replica, link, electorate)) continue;
      if (yields && !hasRoom(link)) continue;
      if (isBetter(vote, best)) best = pick(vote);
    }
    return best;
  }

  /**
   * A member that reaches less than a quorum is no candidate: members that reach more would wait
   * for it in vain, and elect it again and again.
   */
  #mayWin(electorate: Electorate): boolean {
    const { id: own, links, quorums } = this.#replica;
    return quorums.mayElect(
      (id) => {
        if (id === own) return true;
        const link = links.get(id);
        if (link === undefined) return false;
        return link.vote === null || counts(this.#replica, link, electorate);
      },
      (id) => id === own || links.has(id),
    );
  }

  #maybeDecide(electorate: Electorate): void {
    const { quorums, links, id: own } = this.#replica;
    const supporters = new Set([own]);
    const undecided = new Set<PeerId>();
    const barred: PeerId[] = [];
    for (const link of links.values()) {
      if (link.vote !== null && !counts(this.#replica, link, electorate)) barred.push(link.peer);
      else if (this.#agrees(link)) supporters.add(link.peer);
      else undecided.add(link.peer);
    }
    const hasSpoken = (id: PeerId) => id === own || (links.get(id)?.vote ?? null) !== null;
    if (!quorums.mayElect((id) => supporters.has(id), hasSpoken)) {
      this.#settleAtMs = null;
      const mayAgree = (id: PeerId) => supporters.has(id) || undecided.has(id);
      const isReachable = (id: PeerId) => id === own || links.has(id);
      if (quorums.mayElect(mayAgree, isReachable)) this.#maybeExplainUndecided(electorate);
      else this.#reason = this.#shortage(barred);
      return;
    }
    if (undecided.size > 0) {
      this.#settleAtMs ??= this.#replica.nowMs + this.#replica.options.settleMs;
      if (this.#replica.nowMs < this.#settleAtMs) return;
    }
    this.#decide(electorate);
  }

  #agrees({ vote, offeredEpoch }: Link): boolean {
    if (vote === null || vote.round !== this.#replica.round) return false;
    // A peer that offered to follow this member may prefer another candidate by now.
    if (vote.leader !== this.#candidate.leader) return false;
    // A follower of this member's last term has not yet offered to follow in the next one.
    return vote.leader !== this.#replica.id || vote.state !== 'following' || offeredEpoch !== null;
  }

  #decide(electorate: Electorate): void {
    const { leader, epoch, zxid } = this.#candidate;
    const { round } = this.#replica;
    this.#replica.note('election.decided', { leader, epoch, zxid: formatZxid(zxid), round });
    if (leader === this.#replica.id) this.#transitions.lead(electorate.kind === 'founding');
    else this.#transitions.follow(leader);
  }

  #shortage(barred: readonly PeerId[]): string {
    const { links, quorum, quorums } = this.#replica;
    const voters = links.size - barred.length + 1;
    const needed = quorums.isChanging
      ? changeText(quorums, [this.#replica.id, ...links.keys()])
      : `a quorum is ${quorum} voters, ${voters} here`;
    const missing = `${needed}; ${absentText(this.#replica)}`;
    if (barred.length === 0) return missing;
    const away = this.#replica.options.members.length - links.size - 1;
    const advice = voters + away < quorum && !quorums.isChanging ? `; ${MAJORITY_LOST}` : '';
    return `${missing}${advice}`;
  }

  /**
   * Enough peers are reachable but not all vote: they have a leader that is not reachable from
   * here, or only this member was told to found an ensemble with a quorum.
   */
  #maybeExplainUndecided(electorate: Electorate): void {
    for (const { peer, vote } of this.#replica.links.values()) {
      if (electorate.kind === 'founding' && vote?.leader === NOBODY.leader) {
        const all = `member ${peer} founds no ensemble without all configured members`;
        this.#reason = `${all} (it would with --found); ${absentText(this.#replica, true)}`;
        return;
      }
      if (vote?.state !== 'following' || vote.leader === this.#replica.id) continue;
      if (this.#replica.linkOf(vote.leader) !== undefined) continue;
      this.#reason = `member ${peer} follows ${vote.leader}, which is not reachable from here`;
      return;
    }
  }

  /**
   * Logs why nobody can be elected, if that lasts: once for each reason, and again from time to
   * time.
   */
  #maybeTellReason(): void {
    const { nowMs, options } = this.#replica;
    const isTold = this.#reason === this.#toldReason && nowMs - this.#toldAtMs < TELL_AGAIN_MS;
    if (this.#reason === '' || isTold) return;
    if (nowMs - this.#startedAtMs < options.settleMs) return;
    this.#toldReason = this.#reason;
    this.#toldAtMs = nowMs;
    this.#replica.note('election.waiting', { reason: this.#reason });
  }
}

/** Tells an operator who has changed the list of members which members are waited for. */
function changeText({ lists }: Quorums, here: readonly PeerId[]): string {
  const [own, ...former] = lists.map((list) => list.join(', '));
  const needed = lists.map((list) => {
    const missing = list.filter((id) => !here.includes(id));
    const count = `${majorityOf(list.length)} of ${list.join(', ')}`;
    return missing.length === 0 ? count : `${count} (not here: ${missing.join(', ')})`;
  });
  return (
    `the list of members was ${former.join(' and ')} and is now ${own}: waiting for ` +
    `${needed.join(' and ')} with the list of now, or for all of ${own} where some are new`
  );
}

function pick(vote: VoteMessage): Candidate {
  return { leader: vote.leader, epoch: vote.epoch, zxid: vote.zxid };
}

function same(a: Candidate, b: Candidate): boolean {
  return a.leader === b.leader && a.epoch === b.epoch && a.zxid === b.zxid;
}

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.epoch !== b.epoch) return a.epoch > b.epoch;
  if (a.zxid !== b.zxid) return a.zxid > b.zxid;
  return a.leader > b.leader;
}
