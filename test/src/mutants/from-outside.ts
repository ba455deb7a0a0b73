/**
 * Mutants that an outsider wrote from the source of the core, the driver, the pipeline, the state
 * and the storage, before any other mutant or line of the simulator was read: each is an edit that
 * a tired engineer could make in good faith.
 */
import type { Mutant } from './mutant.js';

export const outsideMutants: readonly Mutant[] = [
  {
    name: 'logged-is-nothing-until-applied',
    area: 'zab',
    breaks: 'newer history is what a voter has logged, whether it has applied it or not',
    in: 'isNewer',
    find: 'return ack.last > history.last;',
    replace: 'return ack.applied > history.last;',
  },
  {
    name: 'sync-waits-for-the-committed-only',
    area: 'zab',
    breaks: 'a sync shows all that was proposed before it, committed or not',
    in: 'Confirmations.ask',
    find: 'this.#waiting.push({ id, zxid: this.#replica.history.last });',
    replace: 'this.#waiting.push({ id, zxid: this.#replica.committed });',
  },
  {
    name: 'given-up-vote-is-not-saved',
    area: 'zab',
    breaks: 'a damaged member has no vote after a crash right behind its snapshot',
    in: 'Replica.giveUpMembership',
    find: 'this.#saveEpochs();',
    replace: '',
  },
  {
    name: 'first-lease-without-slack',
    area: 'sessions',
    breaks: 'a new leader allows for answers of members of which it hears nothing',
    in: 'Leases.add',
    find: 'const lease = { session, timeoutMs, deadlineMs: nowMs + timeoutMs + this.#slackMs };',
    replace: 'const lease = { session, timeoutMs, deadlineMs: nowMs + timeoutMs };',
  },
  {
    name: 'deletion-heard-twice',
    area: 'state',
    breaks: 'a watcher hears of one change at one path once, whatever modes it has there',
    in: 'WatchTable.trigger',
    find: `const hasHeard = concerned.has(watcher)
        ? !unheard.has(watcher)
        : emit(watcher, eventType, path);`,
    replace: 'const hasHeard = emit(watcher, eventType, path);',
  },
  {
    name: 'multi-undone-in-order',
    area: 'pipeline',
    breaks: 'a multi that failed leaves nothing behind, though it changed a znode twice',
    in: 'Overlay.rollBack',
    find: 'for (const { znode, was } of before.reverse()) znode.become(was);',
    replace: 'for (const { znode, was } of before) znode.become(was);',
  },
  {
    name: 'missed-children-by-the-data',
    area: 'pipeline',
    breaks: 'a client that returns hears that the children of its znode have changed',
    in: 'catchUp',
    find: 'tree.pzxid(node)',
    replace: 'tree.mzxid(node)',
  },
  {
    name: 'ends-of-an-earlier-term-stay',
    area: 'pipeline',
    breaks: 'the next leader goes on with the ends of sessions that are in parts',
    in: 'SessionEnds.constructor',
    find: 'for (const session of prepare.overlay.sessions.closing()) $BODY',
    replace: '',
  },
  {
    name: 'end-of-the-log-taken-for-durable',
    area: 'storage',
    breaks: 'what a start has read of an unsynced write is durable before anybody relies on it',
    in: 'readSegment',
    find: 'return await makeDurable(file, newest, reader.position);',
    replace: 'return newest < 0 ? await makeDurable(file, newest, reader.position) : undefined;',
  },
];
