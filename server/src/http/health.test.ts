/** Which facts make a member not live, and which only not ready. */
import { expect, it } from 'vitest';
import { memberView } from '../net/testing/fixtures.js';
import { BEHIND_MAX, FREE_BYTES_MIN, healthAnswer } from './health.js';

const { health } = memberView();
const PLENTY = 1 << 30;

function ask(
  path: string,
  facts: Partial<typeof health> = {},
  { freeBytes = PLENTY, query = '' }: { freeBytes?: number | null; query?: string } = {},
) {
  const at = { health: { ...health, ...facts }, freeBytes };
  const { status, body } = healthAnswer({ path, query: new URLSearchParams(query) }, at);
  return { status, body };
}

it('a member without its quorum lives and is not ready', () => {
  const facts = { role: 'looking', roleForMs: 2500 } as const;
  expect(ask('/livez', facts)).toEqual({ status: 200, body: 'ok\n' });
  const { status, body } = ask('/readyz', facts);
  expect(status).toBe(503);
  expect(body).toContain('[-]leader failed: no leader for 2.5 s\n');
  expect(body).toMatch(/\nreadyz check failed\n$/);
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

it('a full disk makes a member not ready, and leaves it live; an unknown one is no reason', () => {
  expect(ask('/readyz', {}, { freeBytes: FREE_BYTES_MIN }).status).toBe(200);
  expect(ask('/readyz', {}, { freeBytes: FREE_BYTES_MIN - 1 }).status).toBe(503);
  expect(ask('/readyz', {}, { freeBytes: null }).status).toBe(200);
  expect(ask('/livez', {}, { freeBytes: 0 }).status).toBe(200);
});

it('one that has much to apply is not ready', () => {
  expect(ask('/readyz', { behind: BEHIND_MAX }).status).toBe(200);
  expect(ask('/readyz', { behind: BEHIND_MAX + 1 }).status).toBe(503);
});

it('tells each check when asked to, leaves some out, and has each as a path', () => {
  expect(ask('/readyz', {}, { query: 'verbose' }).body).toBe(
    '[+]leader ok\n[+]caught_up ok\n[+]disk ok\n[+]storage ok\nreadyz check passed\n',
  );
  const full = { freeBytes: 0 };
  expect(ask('/readyz', {}, { ...full, query: 'exclude=disk' }).status).toBe(200);
  expect(ask('/readyz', {}, { ...full, query: 'exclude=disk,leader' }).status).toBe(200);
  expect(ask('/readyz/disk', {}, full).status).toBe(503);
  expect(ask('/readyz/leader', {}, full).status).toBe(200);
  expect(ask('/startupz', {}, full).status).toBe(503);
});

it('refuses checks that there are not: a probe with a typing error must not be green', () => {
  expect(() => ask('/readyz/disc')).toThrow(/no check "disc" \(there is leader, caught_up/);
  expect(() => ask('/readyz', {}, { query: 'exclude=disc' })).toThrow(/no check "disc"/);
});
