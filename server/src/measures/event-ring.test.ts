/** The bounded ring of events, and how a member's log fills it. */
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { EVENTS_MAX, EventRing, FACTS_CHARACTERS_MAX, recordingLogger } from './event-ring.js';

it('keeps the newest, in their order, and says how many were lost', () => {
  const ring = new EventRing(() => 0);
  for (let i = 1; i <= EVENTS_MAX + 3; i++) ring.add('info', `e.${i}`, {});
  const all = ring.after(0);
  expect(all.length).toBe(EVENTS_MAX);
  expect([all[0]?.number, all.at(-1)?.event]).toEqual([4, `e.${EVENTS_MAX + 3}`]);
  expect([ring.lostAfter(0), ring.lostAfter(2), ring.lostAfter(3)]).toEqual([3, 1, 0]);
  expect(ring.after(EVENTS_MAX + 2).map(({ event }) => event)).toEqual([`e.${EVENTS_MAX + 3}`]);
});

it('holds no more of an event than a few lines, and a copy', () => {
  const ring = new EventRing(() => 0);
  const facts = { list: [1] };
  ring.add('warn', 'a', facts);
  facts.list.push(2);
  ring.add('warn', 'b', { text: 'x'.repeat(10 * FACTS_CHARACTERS_MAX), n: 1n });
  const [a, b] = ring.after(0);
  expect(a?.facts).toEqual({ list: [1] });
  expect(JSON.stringify(b).length).toBeLessThan(FACTS_CHARACTERS_MAX + 200);
});

it('hears what a logger and its children say at info and above, whatever is written', () => {
  const ring = new EventRing(() => 1e12);
  const written: string[] = [];
  const base = pino({ level: 'error' }, { write: (line: string) => written.push(line) });
  const logger = recordingLogger(base, ring);
  logger.info({ role: 'leading' }, 'role.serving');
  logger.child({ member: 1 }).error({ err: new Error('no space') }, 'disk.failed');
  logger.debug('not.kept');
  logger.warn('bare');
  expect(ring.after(0).map(({ level, event, facts }) => [level, event, facts])).toEqual([
    ['info', 'role.serving', { role: 'leading' }],
    ['error', 'disk.failed', { err: 'no space' }],
    ['warn', 'bare', {}],
  ]);
  expect(ring.after(0)[0]?.time).toBe('2001-09-09T01:46:40.000Z');
  expect(written.length, 'one line is severe enough').toBe(1);
});
