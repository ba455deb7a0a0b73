/**
 * Named bugs of sessions, ephemerals and connecting.
 */
import { type NamedMutant, scenario } from './named-mutant.js';

const SESSIONS = 'sessions';

export const sessionMutants: readonly NamedMutant[] = [
  {
    name: 'zk-4678-in-sync-one-proposal-short',
    area: 'named',
    file: 'zab/catch-up.ts',
    find: '    const { last } = history;\n    if (learner',
    replace:
      '    const last = Math.max(learner.sentThrough, this.#member.committed - 1);\n' +
      '    if (learner',
    also: [
      {
        file: 'zab/following.ts',
        find: '    if (this.#serveFrom === null || !this.#member.knows(zxid)) {\n      return this.#violation(`commit',
        replace: '    if (this.#serveFrom === null) {\n      return this.#violation(`commit',
      },
      {
        file: 'zab/following.ts',
        find: '    if (this.#serveFrom === null || !this.#member.knows(zxid)) {\n      return this.#violation(`leaderDurable',
        replace: '    if (this.#serveFrom === null) {\n      return this.#violation(`leaderDurable',
      },
      {
        file: 'zab/following.ts',
        find: '    this.#serveFrom = message.committed;',
        replace: '    this.#serveFrom = this.#member.history.last;',
      },
    ],
    breaks: 'a member that has rejoined has applied everything that was committed',
    scenario: scenario(
      SESSIONS,
      'ZK-2355, ZK-4678, ZK-919: a follower that is cut off or killed while a session closes has none of its ephemerals when it returns',
    ),
  },
  {
    name: 'zk-1367-ephemerals-forgotten-at-restart',
    area: 'named',
    file: 'state/tree-loader.ts',
    find: '      this.#parts.ephemerals.add(node, this.#parts.store.double(node, DOUBLE.owner));\n',
    replace: '',
    breaks:
      'the close of a session deletes all its ephemerals, including those from before a restart',
    scenario: scenario(
      SESSIONS,
      'ZK-1367: ephemerals that a restart of all members finds on disk end with their sessions, and stay if those return',
    ),
  },
  {
    name: 'zk-1208-create-behind-the-close',
    area: 'named',
    file: 'pipeline/sessions-in-flight.ts',
    find: '    if (this.isEndDecided(session)) return false;\n',
    replace: '',
    breaks: 'a session that is being closed creates nothing more',
    scenario: scenario(
      SESSIONS,
      'ZK-1208: an ephemeral that is created after the close of its session is refused, whether the close is in flight or applied',
    ),
  },
  {
    name: 'zk-3526-read-only-sessions-written',
    area: 'named',
    file: 'pipeline/pipeline.ts',
    find: "      case 'welcome':\n",
    replace:
      "      case 'welcome':\n" +
      '        if (this.isReadOnly) {\n' +
      '          const { timeoutMs } = connection;\n' +
      "          const op = { kind: 'createSession', timeoutMs, password: new Uint8Array(16) } as const;\n" +
      '          const txn = { origin: 0, request: 0, session: 0, time: this.#state.lastTime, op };\n' +
      '          const ignore = () => undefined;\n' +
      '          const sink = { created: ignore, deleted: ignore, dataChanged: ignore };\n' +
      '          const zxid = this.#state.lastZxid + 1;\n' +
      '          this.#state.apply(zxid, txn, sink);\n' +
      '        }\n',
    breaks: 'read-only mode never touches the replicated state',
    scenario: scenario(
      'read-only',
      'ZK-3526: read-only clients that connect, leave and time out cause nothing that a quorum would have to undo',
    ),
  },
  {
    name: 'zk-4814-read-only-byte-for-everybody',
    area: 'named',
    file: 'pipeline/handshake.ts',
    find: '    readOnly: connection.hasReadOnly ? session.isReadOnly : null,',
    replace: '    readOnly: session.isReadOnly,',
    breaks: 'a client gets a readOnly byte only if it sent one',
    scenario: scenario(
      'handshake',
      'ZK-4814: a client receives a readOnly byte if and only if it sent one, whatever the answer',
    ),
  },
];
