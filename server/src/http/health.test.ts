/** Which facts make a member not live, and which only not ready. */
import { expect, it } from 'vitest';
import { memberView } from '../simulated/net/fixtures.js';
import { healthAnswer, UNAPPLIED_MAX } from './health.js';

const { health } = memberView();
const FULL = { diskShortage: { freeBytes: 412_000_000, reserveBytes: 500_000_000 } };

function ask(
  path: string,
  facts: Partial<typeof health> = {},
  { query = '' }: { query?: string } = {},
) {
  const at = { health: { ...health, ...facts } };
  const { status, body } = healthAnswer({ path, query: new URLSearchParams(query) }, at);
  return { status, body };
}

it('a member without its quorum lives and is not ready', () => {
  const facts = { role: 'looking', roleForMs: 2500 } as const;
  expect(ask('/livez', facts)).toEqual({ status: 200, body: 'ok\n' });
  const { status, body } = ask('/readyz', facts);
  expect(status).toBe(503);
  expect(body).toContain('[-]leader failed: it has neither led nor followed for 2.5 s\n');
  expect(body).toMatch(/\nreadyz check failed\n$/);
  const waitsFor = 'no ensemble yet; not connected: 3';
  const waiting = ask('/readyz', { ...facts, waitsFor }).body;
  expect(waiting).toContain(' nor followed for 2.5 s: no ensemble yet; not connected: 3\n');
});

it('one that only serves reads without a quorum is live and not ready, unless that is left out', () => {
  const facts = { role: 'looking', isReadOnly: true } as const;
  expect(ask('/livez', facts).status).toBe(200);
  expect(ask('/readyz', facts).status).toBe(503);
  expect(ask('/readyz', facts, { query: 'exclude=leader' }).status).toBe(200);
});

it('a write that the disk does not take ends both, once it has waited for longer than syncLimit', () => {
  const max = health.writeWaitMsMax;
  for (const path of ['/livez', '/readyz']) {
    expect(ask(path, { writeWaitMs: max }).status).toBe(200);
    expect(ask(path, { writeWaitMs: max + 1 }).status).toBe(503);
  }
});

it('a full disk makes a member not ready, and leaves it live', () => {
  expect(ask('/readyz').status).toBe(200);
  const { status, body } = ask('/readyz', FULL);
  expect(status).toBe(503);
  expect(body).toContain('[-]disk failed: 412 MB free, below 500 MB it takes no data\n');
  expect(ask('/livez', FULL).status).toBe(200);
});

it('a member that has stepped out because its disk is full says so', () => {
  const facts = { ...FULL, role: 'looking', sparedBy: 3 } as const;
  expect(ask('/livez', facts).status).toBe(200);
  const { status, body } = ask('/readyz', facts);
  expect(status).toBe(503);
  expect(body).toContain(
    '[-]disk failed: 412 MB free, below 500 MB it has stepped out, and leader 3 goes on without it\n',
  );
});

it('damage that is being repaired is named, and leaves a member ready', () => {
  const damage = { reason: 'tree-0 has lost a record', waitsFor: 'a quorum' };
  const { status, body } = ask('/readyz', { damage }, { query: 'verbose' });
  expect(status).toBe(200);
  expect(body).toContain(
    '[+]storage ok, but damage of the disk is being repaired, which waits for a quorum: ' +
      'tree-0 has lost a record\n',
  );
});

it('a checkpoint that met a full disk is named, and is no damage', () => {
  const checkpointGivenUp = { reason: 'no space left', waitsFor: 'room on the disk' };
  const { status, body } = ask('/readyz', { checkpointGivenUp }, { query: 'verbose' });
  expect(status).toBe(200);
  expect(body).toContain(
    '[+]storage ok, but a checkpoint was given up because the disk was full, and is written ' +
      'again, which waits for room on the disk; nothing is damaged: no space left',
  );
});

it('one that has much to apply is not ready', () => {
  expect(ask('/readyz', { unapplied: UNAPPLIED_MAX }).status).toBe(200);
  expect(ask('/readyz', { unapplied: UNAPPLIED_MAX + 1 }).status).toBe(503);
});

it('tells each check when asked to, leaves some out, and has each as a path', () => {
  expect(ask('/readyz', {}, { query: 'verbose' }).body).toBe(
    '[+]leader ok\n[+]caught_up ok\n[+]disk ok\n[+]storage ok\nreadyz check passed\n',
  );
  expect(ask('/readyz', FULL, { query: 'exclude=disk' }).status).toBe(200);
  expect(ask('/readyz', FULL, { query: 'exclude=disk,leader' }).status).toBe(200);
  expect(ask('/readyz/disk', FULL).status).toBe(503);
  expect(ask('/readyz/leader', FULL).status).toBe(200);
  expect(ask('/startupz', FULL).status).toBe(503);
});

it('refuses checks that there are not: a probe with a typing error must not be green', () => {
  expect(() => ask('/readyz/disc')).toThrow(/no check "disc" \(the checks are leader, caught_up/);
  expect(() => ask('/readyz', {}, { query: 'exclude=disc' })).toThrow(/no check "disc"/);
});

it('tells those who are not let in yes or no, and not why', () => {
  const full = { ...health, ...FULL };
  const asked = { path: '/readyz', query: new URLSearchParams('verbose') };
  const brief = healthAnswer(asked, { health: full }, { mayTell: false });
  expect([brief.status, brief.body]).toEqual([503, 'readyz check failed\n']);
  expect(healthAnswer(asked, { health: full }).body).toContain('it takes no data');
});
