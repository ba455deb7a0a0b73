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
    file: 'zab/discovery.ts',
    find: 'return ack.last > history.last;',
    replace: 'return ack.applied > history.last;',
  },
  {
    name: 'sync-waits-for-the-committed-only',
    area: 'zab',
    breaks: 'a sync shows all that was proposed before it, committed or not',
    file: 'zab/confirmations.ts',
    find: 'zxid: this.#member.history.last });',
    replace: 'zxid: this.#member.committed });',
  },
  {
    name: 'given-up-vote-is-not-saved',
    area: 'zab',
    breaks: 'a damaged member has no vote after a crash right behind its snapshot',
    file: 'zab/member.ts',
    find: `    this.ensembleId = '';
    this.founded = false;
    this.#saveEpochs();
`,
    replace: `    this.ensembleId = '';
    this.founded = false;
`,
  },
  {
    name: 'first-lease-without-slack',
    area: 'sessions',
    breaks: 'a new leader allows for answers of members of which it hears nothing',
    file: 'sessions/leases.ts',
    find: 'const lease = { session, timeoutMs, deadlineMs: nowMs + timeoutMs + this.#slackMs };',
    replace: 'const lease = { session, timeoutMs, deadlineMs: nowMs + timeoutMs };',
  },
  {
    name: 'deletion-heard-twice',
    area: 'state',
    breaks: 'a watcher hears of one change at one path once, whatever modes it has there',
    file: 'state/watches.ts',
    find: `        const hasHeard = concerned.has(watcher)
          ? !unheard.has(watcher)
          : emit(watcher, eventType, path);
`,
    replace: '        const hasHeard = emit(watcher, eventType, path);\n',
  },
  {
    name: 'recursive-watch-misses-the-newborn',
    area: 'state',
    breaks: 'a recursive watch on a znode that is created later hears of what is below it',
    file: 'state/watches.ts',
    find: "    if (kind === 'created' && recursive.hasPath(path)) this.#nodes.put(path, node);\n",
    replace: '',
  },
  {
    name: 'multi-undone-in-order',
    area: 'pipeline',
    breaks: 'a multi that failed leaves nothing behind, though it changed a znode twice',
    file: 'pipeline/overlay.ts',
    find: 'of before.reverse()) znode.become(was);',
    replace: 'of before) znode.become(was);',
  },
  {
    name: 'missed-children-by-the-data',
    area: 'pipeline',
    breaks: 'a client that returns hears that the children of its znode have changed',
    file: 'pipeline/set-watches.ts',
    find: 'else if (tree.pzxid(node) > seen && mayRead(scene, node)) {',
    replace: 'else if (tree.mzxid(node) > seen && mayRead(scene, node)) {\n      // Changed.',
  },
  {
    name: 'ends-of-an-earlier-term-stay',
    area: 'pipeline',
    breaks: 'the next leader goes on with the ends of sessions that are in parts',
    file: 'pipeline/session-ends.ts',
    find: `    for (const session of prepare.overlay.sessions.closing()) {
      this.#waiting.push({ session, origin: 0, request: 0 });
    }
`,
    replace: '',
  },
  {
    name: 'end-of-the-log-taken-for-durable',
    area: 'storage',
    breaks: 'what a start has read of an unsynced write is durable before anybody relies on it',
    file: 'storage/log-recovery.ts',
    find: '      return await makeDurable(file, newest, reader.position);\n',
    replace:
      '      return newest < 0 ? await makeDurable(file, newest, reader.position) : undefined;\n',
  },
  {
    name: 'mark-stays-behind-a-truncation',
    area: 'storage',
    breaks: 'a log that was truncated is not mistaken for one that has lost its end',
    file: 'storage/storage.ts',
    find: 'if (after < this.#meta.value.recordedZxid) await',
    replace: 'if (after < 0) await',
  },
];
