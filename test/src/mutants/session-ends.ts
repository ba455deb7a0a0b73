/** Mutants of the end of sessions that have more ephemerals than one transaction deletes. */
import type { Mutant } from './mutant.js';

/**
 * Clients with many ephemerals close and vanish all the time, and transactions delete one or two.
 */
const ENDS = [
  'members=3',
  'clients.hoards=true',
  'clients.readerShare=0',
  'clients.closeEveryMs=1000',
  'clients.vanishEveryMs=2000',
  'clients.timeoutMinMs=1000',
  'clients.timeoutMaxMs=1000',
  'settings.minSessionTimeoutMs=500',
  'settings.peerTimeoutMs=200',
  'settings.peerHeartbeatMs=20',
  'tuning.ephemeralsPerPart=1',
] as const;

/** In addition, leaders change while sessions end. */
const ENDS_AND_LEADERS = [...ENDS, 'kinds=["crash-leader","isolate-leader"]'] as const;

export const sessionEndMutants: readonly Mutant[] = [
  {
    name: 'next-leader-forgets-closing-sessions',
    area: 'sessions',
    breaks: 'the next leader continues the end of a session, so that none stays half closed',
    aim: ENDS_AND_LEADERS,
    in: 'SessionEnds.constructor',
    find: 'this.#waiting.push({ session, origin: 0, request: 0 });',
    replace: 'if (session < 0) this.#waiting.push({ session, origin: 0, request: 0 });',
  },
  {
    name: 'next-leader-lets-closing-sessions-live',
    area: 'sessions',
    // It has a lease again, and a client that knows its password resumes what is left of it.
    breaks: 'nobody resumes a session whose end is decided, also under the next leader',
    aim: ENDS_AND_LEADERS,
    in: 'SessionsInFlight.constructor',
    find: 'if (isClosing) this.#closing.add(id);',
    replace: 'if (isClosing && id < 0) this.#closing.add(id);',
    also: [
      {
        in: 'RequestPreparer.constructor',
        find: 'if (!isClosing) this.leases.add(session, timeoutMs, time.nowMs);',
        replace:
          'if (!isClosing || timeoutMs > 0) this.leases.add(session, timeoutMs, time.nowMs);',
      },
    ],
  },
  {
    name: 'closed-with-ephemerals-left',
    area: 'state',
    breaks: 'a session is closed only when all of its ephemerals are gone',
    aim: ENDS,
    in: 'ReplicatedState.#closeSession',
    find: 'const families = this.tree.ephemeralFamilies(at.session);',
    replace: `const isOpen = this.sessions.isOpen(at.session);
      const families = isOpen ? this.tree.ephemeralFamilies(at.session) : [];`,
  },
  {
    name: 'close-is-answered-when-it-begins',
    area: 'pipeline',
    breaks: 'a client that closes its session is answered once its ephemerals are gone',
    aim: ENDS,
    in: 'Pipeline.apply',
    find: 'if (isOwn && !begins) this.#answerOwn(zxid, txn);',
    replace: 'if (isOwn) this.#answerOwn(zxid, txn);',
  },
];
