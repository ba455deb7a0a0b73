/** Mutants of leases, of ownership and of a member's heartbeats. */
import type { Edit, Mutant } from './mutant.js';

/** Sessions expire and are resumed while the leader may lose its quorum. */
export const GONE_IN_DOUBT = [
  'members=3',
  'kinds=["slow-disk","isolate-leader","crash-leader"]',
  'settings.minSessionTimeoutMs=500',
  'clients.timeoutMinMs=500',
  'clients.timeoutMaxMs=1000',
  'clients.vanishEveryMs=2000',
  'clients.moveEveryMs=500',
] as const;

/** Members are stalled for longer than any lease, while clients wait for them. */
const STALLS = [
  'members=3',
  'kinds=["stall-long"]',
  'settings.peerTimeoutMs=200',
  'settings.peerHeartbeatMs=20',
  'settings.maxSessionTimeoutMs=40000',
  'clients.timeoutMinMs=6000',
  'clients.timeoutMaxMs=12000',
  'clients.vanishEveryMs=0',
  'clients.moveEveryMs=0',
  'clients.patienceMs=0',
] as const;

/** Machines are suspended for longer than any lease, and their monotonic clocks stand still. */
const STOPPED_CLOCKS = [
  'kinds=["stopped-clock"]',
  'settings.peerTimeoutMs=200',
  'settings.peerHeartbeatMs=20',
  'settings.maxSessionTimeoutMs=40000',
  'clients.timeoutMinMs=1000',
  'clients.timeoutMaxMs=3000',
  'clients.vanishEveryMs=0',
  'clients.moveEveryMs=0',
  'clients.patienceMs=0',
] as const;

/** Clients fall silent for longer than their timeout, and nothing disturbs members. */
export const VANISHING = [
  'members=3',
  'kinds=["wall-clock"]',
  'settings.peerTimeoutMs=200',
  'settings.peerHeartbeatMs=20',
  'clients.vanishEveryMs=1000',
  'clients.moveEveryMs=0',
  'clients.timeoutMinMs=2000',
  'clients.timeoutMaxMs=3000',
  'clients.outstandingMax=1',
] as const;

/** Clients fall silent for longer than their timeout, and the leader loses the members they had. */
const LOST_MEMBERS = [
  'members=3',
  'kinds=["crash","isolate-follower","reset-link"]',
  'settings.peerTimeoutMs=200',
  'settings.peerHeartbeatMs=20',
  'settings.minSessionTimeoutMs=500',
  'clients.count=8',
  'clients.vanishEveryMs=1000',
  'clients.moveEveryMs=0',
  'clients.patienceMs=0',
  'clients.timeoutMinMs=1000',
  'clients.timeoutMaxMs=2000',
  'clients.outstandingMax=1',
] as const;

/**
 * Clients move all the time and continue to write on connections that they have left, over slow
 * links.
 */
const MOVING = [
  'members=3',
  'kinds=["delay"]',
  'clients.asksOn=true',
  'clients.moveEveryMs=200',
  'clients.patienceMs=30',
  'clients.readerShare=0',
  'clients.vanishEveryMs=0',
  'clients.closeEveryMs=0',
] as const;

/** An older connection of a session at its member stays until the newer one is established. */
const STAYS_OPEN: Edit = {
  in: 'Pipeline.#onConnect',
  find: 'this.#disconnect(connection.session);',
  replace: '',
};

export const sessionMutants: readonly Mutant[] = [
  {
    name: 'touched-by-a-dead-connection',
    area: 'sessions',
    // A member reports forever what it has once heard.
    breaks: 'a session expires when nothing is heard from it any more',
    aim: VANISHING,
    in: 'Touches.take',
    find: 'this.#heard = [];',
    replace: 'this.#heard = [...new Set(heard)];',
  },
  {
    name: 'request-of-who-does-not-own-it',
    area: 'sessions',
    breaks: 'a request from a member that does not own its session is dropped',
    in: 'RequestPreparer.#mayAsk',
    find: 'return this.#ownership.isNewest(item.session, origin, item.attachment);',
    replace: 'return this.leases.count > 0 && origin > 0;',
  },
  {
    name: 'attach-judged-by-member',
    area: 'sessions',
    // Requests on an older connection are accepted once its session is back at its member.
    breaks: 'a prefix of the requests of one connection is done and nothing after it',
    aim: MOVING,
    in: 'RequestPreparer.#mayAsk',
    find: 'return this.#ownership.isNewest(item.session, origin, item.attachment);',
    replace: 'return this.#ownership.isAt(item.session, origin);',
    also: [STAYS_OPEN],
  },
  {
    name: 'attachments-never-told-apart',
    area: 'sessions',
    breaks: 'each connection by which a session is requested is an attachment of its own',
    aim: MOVING,
    in: 'Outbox.nextAttachment',
    find: 'this.#attachment = (this.#attachment % ATTACHMENT_MAX) + 1;',
    replace: 'this.#attachment = Math.min(this.#attachment + ATTACHMENT_MAX, 1);',
    also: [STAYS_OPEN],
  },
  {
    name: 'old-owner-not-told',
    area: 'sessions',
    breaks: 'the old owner of a resumed session drops its connection',
    in: 'RequestPreparer.onAttach',
    find: 'if (before !== undefined) $BODY',
    replace: 'if (before?.member === origin) $BODY',
  },
  {
    name: 'gone-before-committed',
    area: 'sessions',
    breaks: 'the end of a session is reported only once its close is committed',
    aim: GONE_IN_DOUBT,
    in: 'LeaderService.#onAttach',
    find: 'this.confirmed.add({ origin, afterApply: true, answer: () => attached });',
    replace: 'this.confirmed.add({ origin, afterApply: false, answer: () => attached });',
  },
  {
    name: 'expiry-without-slack',
    area: 'sessions',
    breaks: 'a deadline is the last touch + timeout + 2H',
    in: 'driverOptions',
    find: 'const leaseSlackMs = 2 * config.peerTimeoutMs;',
    replace: 'const leaseSlackMs = 0;',
  },
  {
    name: 'touch-moves-nothing',
    area: 'sessions',
    breaks: 'a session that is heard from does not expire',
    in: 'Leases.touch',
    find: 'lease.deadlineMs = Math.max(lease.deadlineMs, nowMs + lease.timeoutMs + this.#slackMs);',
    replace: 'lease.deadlineMs = Math.max(lease.deadlineMs, nowMs + this.#slackMs);',
  },
  {
    name: 'new-leader-keeps-no-timeout',
    area: 'sessions',
    breaks: 'after a leader change a deadline is now + timeout + 2H',
    in: 'RequestPreparer.constructor',
    find: 'this.leases.add(session, timeoutMs, time.nowMs);',
    replace: 'this.leases.add(session, timeoutMs, time.nowMs - timeoutMs);',
  },
  {
    name: 'sessions-never-expire',
    area: 'sessions',
    breaks: 'a session from which nothing is heard expires',
    in: 'Leases.add',
    find: 'const lease = { session, timeoutMs, deadlineMs: nowMs + timeoutMs + this.#slackMs };',
    replace:
      'const lease = { session, timeoutMs, deadlineMs: nowMs + timeoutMs + this.#slackMs + 1e9 };',
    aim: VANISHING,
  },
  {
    name: 'heartbeats-report-no-touches',
    area: 'driver',
    breaks: 'members report touches with each heartbeat',
    in: 'Driver.#tick',
    find: "if (sessions.length > 0) this.#sendToLeader({ kind: 'touch', sessions });",
    replace:
      "if (sessions.length > 0 && this.#leaderService !== null) this.#sendToLeader({ kind: 'touch', sessions });",
  },
  {
    name: 'stall-goes-unnoticed',
    area: 'driver',
    breaks: 'after a stall nobody is answered past a lease that has expired meanwhile',
    in: 'Turns.enter',
    find: 'if (this.#nowMs - this.#tickedAtMs > 2 * this.#tickMs) this.#tick();',
    replace: 'if (this.#tickedAtMs === Number.NEGATIVE_INFINITY) this.#tick();',
    aim: STALLS,
  },
  {
    name: 'stall-in-a-turn-goes-unnoticed',
    area: 'driver',
    // The simulator once found this with seed 3286257062: what came during the stall was answered
    // at the end of the turn.
    breaks: 'after a stall in the middle of a turn nobody is answered past a lease',
    aim: STALLS,
    in: 'Turns.#tickIfLate',
    find: `if (this.#nowMs - beganAtMs > 2 * this.#tickMs) this.#tick();
      else this.#nowMs = beganAtMs;`,
    replace: `if (this.#nowMs < beganAtMs) this.#tick();
      else this.#nowMs = beganAtMs;`,
  },
  {
    name: 'jump-goes-unnoticed',
    area: 'driver',
    breaks: 'a member whose clock stood still answers nobody before its lease is proven again',
    aim: STOPPED_CLOCKS,
    in: 'Turns.#jumpMs',
    find: 'return this.#timers.wallMs() - this.#nowMs - this.#wallAheadMs;',
    replace: 'return this.#timers.wallMs() < 0 ? this.#wallAheadMs : 0;',
  },
  {
    name: 'jump-in-a-turn-goes-unnoticed',
    area: 'driver',
    breaks: 'a clock that stood still in the middle of a turn is noticed before its answers leave',
    aim: STOPPED_CLOCKS,
    in: 'Turns.#tickIfLate',
    find: 'const jumpMs = this.#jumpMs;',
    replace: 'const jumpMs = 0;',
  },
  {
    name: 'follower-ignores-its-jump',
    area: 'zab',
    breaks: 'a follower whose clock stood still answers nobody before its leader has answered it',
    aim: STOPPED_CLOCKS,
    in: 'Following.isDoubtful',
    find: 'return link !== undefined && link.contactAtMs <= this.#replica.doubtedAtMs;',
    replace: 'return link !== undefined && link.contactAtMs < 0;',
  },
  {
    name: 'leader-ignores-its-jump',
    area: 'zab',
    breaks: 'a leader whose clock stood still answers nobody before a quorum has answered it',
    aim: STOPPED_CLOCKS,
    in: 'Leading.isDoubtful',
    find: 'return doubtedAtMs > Number.NEGATIVE_INFINITY && !this.#learners.isQuorum(isProven);',
    replace:
      'return doubtedAtMs === Number.POSITIVE_INFINITY && this.#learners.isQuorum(isProven);',
  },
  {
    name: 'proposals-before-they-are-prepared',
    area: 'driver',
    // The prepared requests are kept over a role change: the next term proposes what the last one
    // prepared.
    breaks: 'what was prepared and not proposed is discarded with the term',
    in: 'Driver.#onRole',
    find: 'this.#leaderService = this.#newLeaderService(epoch, this.#zab.replica.history.last);',
    replace:
      'this.#leaderService ??= this.#newLeaderService(epoch, this.#zab.replica.history.last);',
    also: [
      {
        in: 'Driver.#onRole',
        find: 'this.#leaderService = null;',
        replace: '',
      },
    ],
  },
  {
    name: 'lost-member-not-heard',
    area: 'sessions',
    breaks: 'the sessions of a member whose link is lost count as heard from until then',
    aim: LOST_MEMBERS,
    in: 'RequestPreparer.onMemberGone',
    find: 'this.leases.touch(session, time.nowMs);',
    replace: 'this.leases.touch(session, -time.nowMs);',
  },
];
