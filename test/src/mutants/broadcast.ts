/**
 * Mutants of the core in broadcast: commit, delivery, contact, confirmation, exhaustion of the
 * counter.
 */
import type { Mutant } from './mutant.js';

export const broadcastMutants: readonly Mutant[] = [
  {
    name: 'commit-on-one-ack-too-few',
    area: 'zab',
    breaks: 'committed is what a quorum has logged',
    file: 'zab/learner.ts',
    find: 'const reached = this.reached(history.durable, ({ match }) => match);',
    replace: `const matches = [history.durable];
    for (const learner of this.synced()) matches.push(learner.match);
    const enough = Math.max(0, this.#member.quorum - 2);
    const reached = matches.sort((a, b) => b - a)[enough] ?? 0;`,
  },
  {
    name: 'commit-counts-joining-learner',
    area: 'zab',
    breaks: 'an ACK counts only from ACK(NEWLEADER) on',
    file: 'zab/learner.ts',
    find: 'const reached = this.reached(history.durable, ({ match }) => match);',
    replace: `const matches = [history.durable];
    for (const learner of this.all()) {
      matches.push(learner.synced ? learner.match : learner.sentThrough);
    }
    const reached = matches.sort((a, b) => b - a)[this.#member.quorum - 1] ?? 0;`,
  },
  {
    name: 'leader-durable-told-early',
    area: 'zab',
    breaks: 'what a leader announces as durable is durable there',
    file: 'zab/learner.ts',
    find: `    const { durable } = history;
    if (durable <= committed ||`,
    replace: `    const durable = history.last;
    if (durable <= committed ||`,
    also: [
      {
        file: 'zab/leading.ts',
        find: '      this.#member.send(learner.link, message);\n    }\n  }\n\n  onConfirm(',
        replace:
          '      this.#member.send(learner.link, message);\n    }\n    this.#learners.tellDurable();\n  }\n\n  onConfirm(',
      },
    ],
  },
  {
    name: 'learner-counts-a-minority',
    area: 'zab',
    breaks: 'a learner counts a quorum: two of five members are not one',
    file: 'zab/following.ts',
    find: `    const reached = quorums.value((voter) => {
      if (voter === this.#leader) return this.#leaderDurable;
      return voter === id ? history.durable : null;
    });`,
    replace: `    const reached = id > 0 && quorums.isChanging ? 0 : Math.min(this.#leaderDurable, history.durable);`,
    also: [
      {
        file: 'zab/learner.ts',
        find: 'if (!quorums.isQuorum((voter) => voter === id || voter === link.peer)) continue;',
        replace: 'if (!quorums.isQuorum((voter) => voter > 0 && id > 0)) continue;',
      },
    ],
  },
  {
    name: 'commit-withheld-from-a-minority',
    area: 'zab',
    breaks: 'a learner that does not form a quorum with its leader receives every COMMIT',
    file: 'zab/learner.ts',
    find: 'if (!quorums.isQuorum((voter) => voter === id || voter === link.peer)) continue;',
    replace: 'if (!quorums.isQuorum((voter) => voter > 0 && id > 0)) continue;',
  },
  {
    name: 'delivered-without-own-persist',
    area: 'zab',
    breaks: 'only what is committed and durable here is delivered',
    file: 'zab/member.ts',
    find: 'Math.min(this.#committed, this.history.durable)',
    replace: 'Math.min(this.#committed, this.history.last)',
  },
  {
    name: 'leader-serves-before-all-is-applied',
    area: 'zab',
    breaks: 'a new leader serves, and decides, on a tree that has all of its initial history',
    file: 'zab/leading.ts',
    find: "if (this.#phase !== 'delivery' || delivered < history.last) return;",
    replace: "if (this.#phase !== 'delivery' || history.last < delivered) return;",
  },
  {
    name: 'follower-serves-before-all-is-applied',
    area: 'zab',
    breaks: 'a follower serves once it has applied what was committed when it joined',
    file: 'zab/following.ts',
    find: 'if (this.#member.delivered < this.#serveFrom) return;',
    replace: 'if (this.#member.committed < this.#serveFrom) return;',
  },
  {
    name: 'restart-commits-the-suffix',
    area: 'zab',
    breaks:
      'what a restart finds after the checkpoint is applied once a leader says that it is committed',
    file: 'zab/member.ts',
    find: 'this.#committed = start.applied;',
    replace: 'this.#committed = this.history.last;',
  },
  {
    name: 'window-trims-what-is-not-delivered',
    area: 'zab',
    breaks: 'the window contains at least everything that is not delivered yet',
    file: 'zab/history.ts',
    find: 'oldest === undefined || oldest.last > delivered',
    replace: 'oldest === undefined || delivered < 0',
  },
  {
    name: 'cut-off-leader-goes-on',
    area: 'zab',
    breaks: 'a leader steps down when no quorum has echoed a ping for H',
    file: 'zab/leading.ts',
    find: 'if (silentMs > options.peerTimeoutMs) {',
    replace: 'if (silentMs > 1000 * options.peerTimeoutMs) {',
    also: [
      {
        file: 'zab/zab.ts',
        find: 'if (silentMs <= options.peerTimeoutMs) continue;',
        replace: 'if (silentMs <= 1000 * options.peerTimeoutMs) continue;',
      },
    ],
  },
  {
    name: 'cut-off-follower-goes-on',
    area: 'zab',
    breaks: "a follower without contact to its leader for H closes its clients' connections",
    file: 'zab/following.ts',
    find: 'if (silentMs > Math.min(peerTimeoutMs, this.#leaseMs)) {',
    replace: 'if (silentMs > 1000 * Math.max(peerTimeoutMs, this.#leaseMs)) {',
    also: [
      {
        file: 'zab/zab.ts',
        find: 'if (silentMs <= options.peerTimeoutMs) continue;',
        replace: 'if (silentMs <= 1000 * options.peerTimeoutMs) continue;',
      },
    ],
  },
  {
    name: 'any-ping-is-contact',
    area: 'zab',
    breaks: 'only an echoed ping proves contact, however late it is read',
    aim: [
      'members=3',
      'kinds=["delay","isolate-leader","partition-one-way"]',
      'settings.minSessionTimeoutMs=500',
      'clients.timeoutMinMs=500',
      'clients.timeoutMaxMs=1000',
      'settings.peerTimeoutMs=200',
      'settings.peerHeartbeatMs=20',
    ],
    file: 'zab/zab.ts',
    find: 'Math.max(link.contactAtMs, Math.min(message.echo, this.#member.nowMs))',
    replace: 'this.#member.nowMs',
  },
  {
    name: 'confirm-joins-the-old-round',
    area: 'zab',
    breaks: 'a round that began before a question proves nothing for it',
    file: 'zab/confirmations.ts',
    find: 'this.#waiting.push({',
    replace: '(this.#leaderQueue.length > 0 ? this.#leaderQueue : this.#waiting).push({',
  },
  {
    name: 'confirmed-by-a-minority',
    area: 'zab',
    breaks: 'a leader is confirmed by a quorum',
    file: 'zab/confirmations.ts',
    find: 'if (!this.#learners.isQuorum(answered)) return;',
    replace: 'if (this.#learners.count(answered) + 2 < this.#member.quorum) return;',
  },
  {
    name: 'sync-waits-for-the-delivered-only',
    area: 'zab',
    breaks: 'a sync shows all that was proposed before it',
    file: 'zab/confirmations.ts',
    find: 'zxid: this.#member.history.last });',
    replace: 'zxid: this.#member.delivered });',
  },
  {
    name: 'counter-rolls-into-the-next-epoch',
    area: 'zab',
    breaks: 'a new epoch begins when the counter of the old one is used up',
    aim: ['kinds=["clean-stop"]', 'faults=2', 'tuning.firstCounter=4294967000'],
    file: 'pipeline/epoch-zxids.ts',
    find: `    if (counterOf(zxid) === COUNTER_MAX) this.#exhausted = true;
    else this.#next = zxid + 1;`,
    replace: '    this.#next = zxid + 1;',
  },
  {
    name: 'used-up-leader-stays',
    area: 'zab',
    breaks: "a leader steps down when its epoch's counter is used up",
    aim: ['kinds=["clean-stop"]', 'faults=2', 'tuning.firstCounter=4294967000'],
    file: 'zab/leading.ts',
    find: 'if (reached !== null && counterOf(reached) === COUNTER_MAX) {',
    replace: 'if (reached !== null && counterOf(reached) > COUNTER_MAX) {',
  },
  {
    name: 'lineage-saved-late',
    area: 'zab',
    breaks: 'a disk that holds a proposal also holds which leadership proposed it',
    file: 'zab/member.ts',
    find: 'if (epochOf(batch.last) >= this.#unsavedEpoch) this.#saveEpochs();',
    replace: 'if (epochOf(batch.last) > this.#unsavedEpoch) this.#saveEpochs();',
  },
];
