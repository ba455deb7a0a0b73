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
    in: 'Learners.commit',
    find: 'const reached = this.reached(history.durable, ({ match }) => match);',
    replace: `const matches = [history.durable];
      for (const learner of this.synced()) matches.push(learner.match);
      const enough = Math.max(0, this.#replica.quorum - 2);
      const reached = matches.sort((a, b) => b - a)[enough] ?? 0;`,
  },
  {
    name: 'commit-counts-joining-learner',
    area: 'zab',
    breaks: 'an ACK counts only from ACK(NEWLEADER) on',
    in: 'Learners.commit',
    find: 'const reached = this.reached(history.durable, ({ match }) => match);',
    replace: `const matches = [history.durable];
      for (const learner of this.all()) {
        matches.push(learner.synced ? learner.match : learner.sentThrough);
      }
      const reached = matches.sort((a, b) => b - a)[this.#replica.quorum - 1] ?? 0;`,
  },
  {
    name: 'leader-durable-told-early',
    area: 'zab',
    breaks: 'what a leader announces as durable is durable there',
    in: 'Learners.tellDurable',
    find: 'const { durable } = history;',
    replace: 'const durable = history.last;',
    also: [
      {
        in: 'Leading.onPropose',
        find: 'for (const learner of this.#learners.all()) $BODY',
        replace: `for (const learner of this.#learners.all()) $BODY
          this.#learners.tellDurable();`,
      },
    ],
  },
  {
    name: 'learner-counts-a-minority',
    area: 'zab',
    breaks: 'a learner counts a quorum: two of five members are not one',
    in: 'Following.#countQuorum',
    find: `quorums.value((voter) => {
        if (voter === this.#leader) return this.#leaderDurable;
        return voter === id ? history.durable : null;
      })`,
    replace: 'id > 0 && quorums.isChanging ? 0 : Math.min(this.#leaderDurable, history.durable)',
    also: [
      {
        in: 'Learners.tellDurable',
        find: 'if (!quorums.isQuorum((voter) => voter === id || voter === link.peer)) continue;',
        replace: 'if (!quorums.isQuorum((voter) => voter > 0 && id > 0)) continue;',
      },
    ],
  },
  {
    name: 'commit-withheld-from-a-minority',
    area: 'zab',
    breaks: 'a learner that does not form a quorum with its leader receives every COMMIT',
    in: 'Learners.tellDurable',
    find: 'if (!quorums.isQuorum((voter) => voter === id || voter === link.peer)) continue;',
    replace: 'if (!quorums.isQuorum((voter) => voter > 0 && id > 0)) continue;',
  },
  {
    name: 'delivered-without-own-persist',
    area: 'zab',
    breaks: 'only what is committed and durable here is delivered',
    in: 'Replica.#ready',
    find: 'return Math.min(this.#committed, this.history.durable);',
    replace: 'return Math.min(this.#committed, this.history.last);',
  },
  {
    name: 'leader-serves-before-all-is-applied',
    area: 'zab',
    breaks: 'a new leader serves, and decides, on a tree that has all of its initial history',
    in: 'Leading.#maybeBroadcast',
    find: "if (this.#phase !== 'delivery' || delivered < history.last) return;",
    replace: "if (this.#phase !== 'delivery' || history.last < delivered) return;",
  },
  {
    name: 'follower-serves-before-all-is-applied',
    area: 'zab',
    breaks: 'a follower serves once it has applied what was committed when it joined',
    in: 'Following.#maybeServe',
    find: 'if (this.#replica.delivered < this.#serveFrom) return;',
    replace: 'if (this.#replica.committed < this.#serveFrom) return;',
  },
  {
    name: 'restart-commits-the-suffix',
    area: 'zab',
    breaks:
      'what a restart finds after the checkpoint is applied once a leader says that it is committed',
    in: 'Replica.constructor',
    find: 'this.#committed = start.applied;',
    replace: 'this.#committed = this.history.last;',
  },
  {
    name: 'window-trims-what-is-not-delivered',
    area: 'zab',
    breaks: 'the window contains at least everything that is not delivered yet',
    in: 'History.trim',
    find: 'if (oldest === undefined || oldest.last > delivered) break;',
    replace: 'if (oldest === undefined || delivered < 0) break;',
  },
  {
    name: 'cut-off-leader-goes-on',
    area: 'zab',
    breaks: 'a leader steps down when no quorum has echoed a ping for H',
    in: 'Leading.onTick',
    find: 'if (silentMs > options.peerTimeoutMs) $BODY',
    replace: 'if (silentMs > 1000 * options.peerTimeoutMs) $BODY',
    also: [
      {
        in: 'Zab.#dropSilentPeers',
        find: 'if (silentMs <= options.peerTimeoutMs) continue;',
        replace: 'if (silentMs <= 1000 * options.peerTimeoutMs) continue;',
      },
    ],
  },
  {
    name: 'cut-off-follower-goes-on',
    area: 'zab',
    breaks: "a follower without contact to its leader for H closes its clients' connections",
    in: 'Following.onTick',
    find: 'if (silentMs > Math.min(peerTimeoutMs, this.#leaseMs)) $BODY',
    replace: 'if (silentMs > 1000 * Math.max(peerTimeoutMs, this.#leaseMs)) $BODY',
    also: [
      {
        in: 'Zab.#dropSilentPeers',
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
    in: 'Zab.#onMessage',
    find: 'link.contactAtMs = Math.max(link.contactAtMs, Math.min(message.echo, this.#replica.nowMs));',
    replace: 'link.contactAtMs = this.#replica.nowMs;',
  },
  {
    name: 'confirm-joins-the-old-round',
    area: 'zab',
    breaks: 'a round that began before a question proves nothing for it',
    in: 'Confirmations.ask',
    find: 'this.#waiting.push({ id, zxid: this.#replica.history.last });',
    replace:
      '(this.#leaderQueue.length > 0 ? this.#leaderQueue : this.#waiting).push({ id, zxid: this.#replica.history.last });',
  },
  {
    name: 'confirmed-by-a-minority',
    area: 'zab',
    breaks: 'a leader is confirmed by a quorum',
    in: 'Confirmations.#maybeComplete',
    find: 'if (!this.#learners.isQuorum(answered)) return;',
    replace: 'if (this.#learners.count(answered) + 2 < this.#replica.quorum) return;',
  },
  {
    name: 'sync-waits-for-the-delivered-only',
    area: 'zab',
    breaks: 'a sync shows all that was proposed before it',
    in: 'Confirmations.ask',
    find: 'this.#waiting.push({ id, zxid: this.#replica.history.last });',
    replace: 'this.#waiting.push({ id, zxid: this.#replica.delivered });',
  },
  {
    name: 'counter-rolls-into-the-next-epoch',
    area: 'zab',
    breaks: 'a new epoch begins when the counter of the old one is used up',
    aim: ['kinds=["clean-stop"]', 'faults=2', 'tuning.firstCounter=4294967000'],
    in: 'EpochZxids.take',
    find: `if (counterOf(zxid) === COUNTER_MAX) this.#exhausted = true;
      else this.#next = zxid + 1;`,
    replace: 'this.#next = zxid + 1;',
  },
  {
    name: 'used-up-leader-stays',
    area: 'zab',
    breaks: "a leader steps down when its epoch's counter is used up",
    aim: ['kinds=["clean-stop"]', 'faults=2', 'tuning.firstCounter=4294967000'],
    in: 'Leading.#maybeCommit',
    find: 'if (reached !== null && counterOf(reached) === COUNTER_MAX) $BODY',
    replace: 'if (reached !== null && counterOf(reached) > COUNTER_MAX) $BODY',
  },
  {
    name: 'lineage-saved-late',
    area: 'zab',
    breaks: 'a disk that holds a proposal also holds which leadership proposed it',
    in: 'Replica.append',
    find: 'if (epochOf(batch.last) >= this.#unsavedEpoch) this.#saveEpochs();',
    replace: 'if (epochOf(batch.last) > this.#unsavedEpoch) this.#saveEpochs();',
  },
];
