/** What is said of sessions that cannot be ended, and how much the lists have at most. */

import { expect, it } from 'vitest';
import type { EndOutcome } from '../../driver/member-answers.js';
import { keptLog } from '../../simulated/net/fixtures.js';
import { AdminAudit } from '../admin-audit.js';
import type { HttpError } from '../http-port.js';
import type { ApiCall } from './api-call.js';
import type { ApiMember } from './api-member.js';
import { OtherMembers } from './other-members.js';
import { SessionRoutes } from './session-routes.js';

const SESSION = '0x100000001';

interface Answers {
  readonly leaderId?: number;
  readonly paths?: readonly string[];
  readonly owned?: readonly string[];
  /** What becomes of an order to end a session, at the member that is asked. */
  readonly outcome?: EndOutcome;
  /** What the leader answers to that order, if it is another member. */
  readonly answer?: string;
}

function useRoutes(answers: Answers = {}) {
  const { leaderId = 0, paths = [], owned = [], outcome = 'notLeading', answer = null } = answers;
  const view = { serving: true, details: { leaderId, memberId: 1 }, sessions: {} };
  const tree = {
    path: (node: number) => owned[node],
    ephemeralsOwned: () => owned.length,
    visitEphemerals: (_: number, visit: (node: number) => boolean) => {
      for (const node of owned.keys()) if (!visit(node)) return;
    },
  };
  const member = {
    context: () => ({ view, connections: () => [] }),
    state: { sessions: { has: () => true, get: () => undefined }, tree },
    watches: {
      paths: (mode: string) => (mode === 'data' ? paths : []),
      watchersOf: () => [7],
      has: () => true,
    },
    sessionOf: () => Number(SESSION),
    expireSession: () => outcome,
  } as unknown as ApiMember;
  const asked: number[] = [];
  const others = new OtherMembers([2, 3], async (id) => {
    asked.push(id);
    return answer;
  });
  const { logger, lines } = keptLog();
  const routes = new SessionRoutes(member, () => others, {
    audit: new AdminAudit(null),
    logger,
  });
  const call = (search = '') =>
    ({
      names: [SESSION],
      query: new URLSearchParams(search),
      caller: { user: 'ops', remoteAddress: '127.0.0.1' },
    }) as unknown as ApiCall;
  const problemOfEnd = async (): Promise<HttpError> => {
    return await Promise.resolve(routes.end(call())).then(
      () => expect.unreachable('it is not ended'),
      (error: HttpError) => error,
    );
  };
  return { routes, call, asked, lines, problemOfEnd };
}

it('says that there is no leader who could end a session, as in read-only mode', async () => {
  const { problemOfEnd, asked } = useRoutes();
  const { status, message, facts } = await problemOfEnd();
  expect([status, facts, asked]).toEqual([503, {}, []]);
  expect(message).toContain('has no leader');
  expect(message).not.toContain('0');
});

it('logs who has ended a session, and not who asked for it while it was ending already', async () => {
  const answerOf = (alreadyEnding: boolean) => JSON.stringify({ ended: true, alreadyEnding });
  for (const [answers, isLogged] of [
    [{ outcome: 'ended' }, true],
    [{ outcome: 'alreadyEnding' }, false],
    [{ leaderId: 2, answer: answerOf(false) }, true],
    [{ leaderId: 2, answer: answerOf(true) }, false],
    // A leader of a former release does not tell the two apart.
    [{ leaderId: 2, answer: '{"ended":true,"alreadyEnding":false}' }, true],
  ] satisfies readonly [Answers, boolean][]) {
    const { routes, call, lines } = useRoutes(answers);
    expect((await routes.end(call())).status).toBe(202);
    const line = { msg: 'admin.session_ended', session: SESSION, user: 'ops' };
    expect(lines, JSON.stringify(answers)).toEqual(isLogged ? [expect.objectContaining(line)] : []);
  }
});

it('names a leader that does not answer', async () => {
  const { problemOfEnd, asked } = useRoutes({ leaderId: 2 });
  const { status, message, facts } = await problemOfEnd();
  expect([status, facts, asked]).toEqual([409, { leader: 2 }, [2]]);
  expect(message).toContain('Member 2 leads');
});

it('lists watches up to a number, and up to a million characters of their paths', async () => {
  const few = useRoutes({ paths: ['/a', '/b', '/c'] });
  const listed = ({ routes, call }: ReturnType<typeof useRoutes>, search: string) => {
    const { body } = routes.watches(call(search));
    return JSON.parse(String(body));
  };
  expect(listed(few, 'limit=3').truncated).toBe(false);
  expect(listed(few, 'limit=2')).toMatchObject({
    truncated: true,
    watches: [{ path: '/a' }, { path: '/b' }],
  });
  const long = `/${'x'.repeat(400_000)}`;
  const { truncated, watches } = listed(useRoutes({ paths: [long, long, long] }), 'limit=10');
  expect([truncated, watches.length]).toEqual([true, 2]);
  const longest = listed(useRoutes({ paths: [`/${'x'.repeat(2_000_000)}`] }), 'limit=10');
  expect([longest.truncated, longest.watches.length]).toEqual([false, 1]);
});

it('says whether a session owns more than the paths that are listed of it', async () => {
  const shown = async (owned: readonly string[]) => {
    const { routes, call } = useRoutes({ owned });
    const { body } = await routes.one(call());
    const { ephemerals, ephemeralPaths, ephemeralPathsTruncated } = JSON.parse(String(body));
    return [ephemerals, ephemeralPaths.length, ephemeralPathsTruncated];
  };
  const paths = Array.from({ length: 1_001 }, (_, index) => `/e-${index}`);
  expect(await shown([])).toEqual([0, 0, false]);
  expect(await shown(paths.slice(1))).toEqual([1_000, 1_000, false]);
  expect(await shown(paths)).toEqual([1_001, 1_000, true]);
  const long = `/${'x'.repeat(400_000)}`;
  expect(await shown([long, long, long])).toEqual([3, 2, true]);
});
