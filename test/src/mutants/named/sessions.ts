/**
 * Named bugs of sessions, ephemerals and connecting.
 */
import { type NamedMutant, scenario } from './named-mutant.js';

const SESSIONS = 'sessions';

export const sessionMutants: readonly NamedMutant[] = [
  {
    name: 'zk-4678-in-sync-one-proposal-short',
    area: 'named',
    in: 'CatchUp.#continue',
    find: 'const { last } = history;',
    replace: 'const last = Math.max(learner.sentThrough, this.#replica.committed - 1);',
    also: [
      {
        in: 'Following.#onCommit',
        find: 'if (this.#serveFrom === null || !this.#replica.knows(zxid)) $BODY',
        replace: 'if (this.#serveFrom === null) $BODY',
      },
      {
        in: 'Following.#onLeaderDurable',
        find: 'if (this.#serveFrom === null || !this.#replica.knows(zxid)) $BODY',
        replace: 'if (this.#serveFrom === null) $BODY',
      },
      {
        in: 'Following.#onUpToDate',
        find: 'this.#serveFrom = message.committed;',
        replace: 'this.#serveFrom = this.#replica.history.last;',
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
    in: 'TreeLoader.#list',
    find: 'this.#tree.ephemerals.add(node, this.#tree.store.double(node, DOUBLE.owner));',
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
    in: 'SessionsInFlight.isLive',
    find: 'if (this.isEndDecided(session)) return false;',
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
    in: 'Pipeline.#onConnect',
    find: 'return this.#welcome(connection);',
    replace: `if (this.isReadOnly) {
        const { timeoutMs } = connection;
        const op = { kind: 'createSession', timeoutMs, password: new Uint8Array(16) } as const;
        const txn = { origin: 0, request: 0, session: 0, time: this.#state.lastTime, op };
        const ignore = () => undefined;
        const sink = { created: ignore, deleted: ignore, dataChanged: ignore };
        const zxid = this.#state.lastZxid + 1;
        this.#state.apply(zxid, txn, sink);
      }
      return this.#welcome(connection);`,
    breaks: 'read-only mode never touches the replicated state',
    scenario: scenario(
      'read-only',
      'ZK-3526: read-only clients that connect, leave and time out cause nothing that a quorum would have to undo',
    ),
  },
  {
    name: 'zk-4814-read-only-byte-for-everybody',
    area: 'named',
    in: 'writeResponse',
    find: 'connection.hasReadOnly ? session.isReadOnly : null',
    replace: 'session.isReadOnly',
    breaks: 'a client gets a readOnly byte only if it sent one',
    scenario: scenario(
      'handshake',
      'ZK-4814: a client receives a readOnly byte if and only if it sent one, whatever the answer',
    ),
  },
];
