/**
 * Mutants of the decisions about members without room, each with the test that states the decision.
 * They cost availability or fill disks, and no consistency; those that the simulator shows are in
 * ../rooms.ts.
 */
import { type NamedMutant, type Scenario, trace } from './named-mutant.js';

function rule(name: string): Scenario {
  return { file: 'server/src/zab/room.test.ts', name };
}

export const roomMutants: readonly NamedMutant[] = [
  {
    name: 'room-of-a-moment',
    area: 'named',
    in: 'LeadersRoom.judge',
    find: 'const lastingSinceMs = nowMs - LASTING_MS;',
    replace: 'const lastingSinceMs = Math.max(nowMs, LASTING_MS);',
    breaks: 'a leader relies on room once it has lasted: members may share a disk',
    scenario: rule(
      'does without a full member once that has lasted, and refuses nothing meanwhile',
    ),
  },
  {
    name: 'room-spares-without-a-quorum',
    area: 'named',
    in: 'LeadersRoom.judge',
    find: 'this.spares = isEnough ? inOrder(fullLinks.filter(maySpare)) : [];',
    replace: 'this.spares = isEnough || this.refuses ? inOrder(fullLinks.filter(maySpare)) : [];',
    breaks: 'nobody steps out whom a quorum with room does not replace',
    scenario: rule('refuses data, and does without nobody, once those with room are no quorum'),
  },
  {
    name: 'room-refuses-for-one',
    area: 'named',
    in: 'LeadersRoom.judge',
    find: 'this.refuses = !isEnough && (isOwnFull || full.length > 0);',
    replace: 'this.refuses = isOwnFull || full.length > 0;',
    breaks: 'one full member of three makes nobody refuse data',
    scenario: rule(
      'does without a full member once that has lasted, and refuses nothing meanwhile',
    ),
  },
  {
    name: 'room-of-the-full-leader',
    area: 'named',
    in: 'LeadersRoom.#haveRoom',
    find: 'return !isOwnFull && roomSinceMs <= sinceMs;',
    replace: 'return isOwnFull || roomSinceMs <= sinceMs;',
    breaks: 'a leader with a full disk is not among those with room',
    scenario: rule('alone refuses while its disk is full'),
  },
  {
    name: 'room-refuses-nothing',
    area: 'named',
    in: 'LeadersRoom.judge',
    find: 'this.refuses = !isEnough && (isOwnFull || full.length > 0);',
    replace: 'this.refuses = !isEnough && isOwnFull && full.length > 0;',
    breaks: 'data is refused where a learner without room would have to write it',
    scenario: trace('full-majority-refuses-data'),
  },
  {
    name: 'room-of-the-unsynced',
    area: 'named',
    in: 'LeadersRoom.#haveRoom',
    find: 'if (learner === undefined || !learner.synced) return false;',
    replace: 'if (learner === undefined) return false;',
    breaks: 'only synced learners make the quorum for which a full member steps out',
    scenario: rule('does not rely on the room of a learner that is not synced yet'),
  },
  {
    name: 'room-hands-over-for-ever',
    area: 'named',
    in: 'LeadersRoom.judge',
    find: 'const hasHandedOver = isSameShortage && nowMs - handedOverAtMs < TRY_AGAIN_MS;',
    replace: 'const hasHandedOver = isSameShortage && nowMs - handedOverAtMs < -TRY_AGAIN_MS;',
    breaks: 'a leader that could not hand over does not repeat it for a minute',
    scenario: rule('that leads again after it handed over refuses data, and waits for a minute'),
  },
  {
    name: 'room-follows-who-spares',
    area: 'named',
    in: 'Standby.declines',
    find: 'if (this.isSparedBy(vote)) $BODY',
    replace: 'if (this.isSparedBy(vote) && leader === 0) $BODY',
    breaks: 'a full member does not follow a leader that does without it',
    scenario: trace('full-follower-steps-out'),
  },
  {
    name: 'room-spared-by-a-guess',
    area: 'named',
    in: 'Looking.sparedBy',
    find: 'return leader !== null && this.#standby.isSparedBy(leader) ? leader.leader : 0;',
    replace: 'return leader !== null && this.#replica.isFull ? leader.leader : 0;',
    breaks: 'a member reports that a leader does without it only once that leader has said so',
    scenario: rule('is spared from the announcement of its leader to the end of that leadership'),
  },
  {
    name: 'room-of-the-silent',
    area: 'named',
    in: 'LeadersRoom.#haveRoom',
    find: 'return hasRoom(link) && link.roomSinceMs <= sinceMs && link.heardAtMs >= heardSinceMs;',
    replace:
      'return hasRoom(link) && link.roomSinceMs <= sinceMs && (link.heardAtMs >= heardSinceMs || !isOwnFull);',
    breaks: 'a leader does not rely on the room of a member that may be lost',
    scenario: rule('asks for a full member again while another has been silent for half of H'),
  },
  {
    name: 'room-patient-with-who-needs-it',
    area: 'named',
    in: 'Standby.#mayBeSparedBy',
    find: 'if (on !== null && on === this.#sparedOn) return false;',
    replace: 'if (on !== null && on === this.#sparedOn && !this.#isPatient) return false;',
    breaks: 'a full member is back as soon as its leader no longer does without it',
    scenario: rule(
      'follows a leader at once that no longer does without it, whoever backs that one',
    ),
  },
  {
    name: 'room-patient-for-ever',
    area: 'named',
    in: 'Standby.#isPatient',
    find: 'return nowMs - sinceMs <= options.peerTimeoutMs + LASTING_MS;',
    replace: 'return nowMs - sinceMs <= 1000 * options.peerTimeoutMs;',
    breaks: 'a full member that knows more stands after a while',
    scenario: rule('stands with its newer history once it has let the others try'),
  },
  {
    name: 'room-not-for-a-founding',
    area: 'named',
    in: 'Standby.yields',
    find: "if (!isOwnFull || electorate.kind !== 'members' || !this.#isPatient) return false;",
    replace: "if (!isOwnFull || electorate.kind === 'none' || !this.#isPatient) return false;",
    breaks: 'a full member takes part in a founding',
    scenario: rule('stands at a founding, which needs every member'),
  },
  {
    name: 'room-stands-while-full',
    area: 'named',
    in: 'Looking.#best',
    find: 'let best = !yields && this.#mayWin(electorate) ? own : NOBODY;',
    replace: 'let best = this.#mayWin(electorate) ? own : NOBODY;',
    breaks: 'a full member does not stand while a quorum of others has room',
    scenario: trace('full-leader-hands-over'),
  },
  {
    name: 'room-votes-for-the-full',
    area: 'named',
    in: 'Looking.#best',
    find: 'if (yields && !hasRoom(link)) continue;',
    replace: 'if (yields && !hasRoom(link) && vote.leader === 0) continue;',
    breaks: 'a full member votes for one with room',
    scenario: rule('votes at once for the best one that has room, and decides nothing'),
  },
  {
    name: 'room-decided-by-the-follower',
    area: 'named',
    in: 'Following.onVote',
    find: 'if (this.#replica.isFull && vote.spares?.includes(this.#replica.id)) this.#stepOut();',
    replace: 'if (this.#replica.isFull && vote.spares !== undefined) this.#stepOut();',
    breaks: 'a follower steps out only when its leader does without it',
    scenario: rule('steps out when its leader does without it, and only if it is full'),
  },
  {
    name: 'room-snapshot-to-the-last-byte',
    area: 'named',
    in: 'Following.onRoom',
    find: "if (this.#phase === 'snapshot' && this.#replica.room === 'scarce') this.#giveUp('snapshot');",
    replace: '',
    breaks: 'a snapshot is given up before it takes the last room of a disk',
    scenario: rule('gives up a snapshot for which there is no room, for a minute'),
  },
  {
    name: 'room-log-to-the-last-byte',
    area: 'named',
    in: 'Following.#onProposeMessage',
    find: "if (isSpare && this.#replica.room === 'scarce') return this.#giveUp('log');",
    replace:
      "if (isSpare && this.#replica.room === 'scarce' && !this.#sawLeading) return this.#giveUp('log');",
    breaks: 'the log of a leader that does not need this member is given up while room is scarce',
    scenario: rule(
      'gives up a log whose leader has a quorum without it, until room is scarce no more',
    ),
  },
  {
    name: 'room-log-of-who-needs-it',
    area: 'named',
    in: 'Following.#onProposeMessage',
    find: "const isSpare = this.#phase === 'syncing' && this.#isEstablished;",
    replace: "const isSpare = this.#phase === 'syncing' || this.#isEstablished;",
    breaks: 'a leader that needs this member for its quorum gets its acknowledgement',
    scenario: rule('takes the log of a leader that needs it for a quorum'),
  },
  {
    name: 'room-gave-up-all-leaders',
    area: 'named',
    in: 'GivenUp.waitsFor',
    find: `const concerns =
        whose === leader || (situation.needsSnapshot && attempt.transfer === 'snapshot');`,
    replace: `const concerns =
        whose === leader || attempt.transfer === 'snapshot';`,
    breaks: 'another leader, which may have the log, may try at once',
    scenario: rule('lets another leader try at once, which may do without a snapshot'),
  },
  {
    name: 'room-log-waits-beyond-the-term',
    area: 'named',
    in: 'Zab.#onMessage',
    find: "if (message.state !== 'leading') this.#replica.givenUp.onNotLeading(peer);",
    replace: '',
    breaks: 'a leader that has lost its quorum gets the member that gave up its log',
    scenario: rule(
      'takes the log of a leader that has lost its quorum, and needs this member for one',
    ),
  },
  {
    name: 'room-snapshots-in-a-loop',
    area: 'named',
    in: 'waits',
    find: "return transfer === 'log' ? room === 'scarce' : isRepeated || room !== 'enough';",
    replace:
      "return transfer === 'log' ? room === 'scarce' : (isRepeated && room === 'full') || room !== 'enough';",
    breaks: 'room that a removed snapshot leaves is no reason to take it again',
    scenario: rule(
      'waits for a minute once two snapshots that began with room ended since room gets scarce',
    ),
  },
  {
    name: 'room-spares-unjudged',
    area: 'named',
    in: 'implausibleVote',
    find: 'if (spares.includes(link.peer)) return $TEXT;',
    replace: '',
    breaks: 'nothing that a vote says of room is taken unjudged',
    scenario: { file: 'server/src/zab/judge.test.ts', name: 'is refused when it spares itself' },
  },
];
