import { pino } from 'pino';
import { expect, it } from 'vitest';
import { EnsembleLevel } from '../driver/ensemble-level.js';
import type { DriverParts } from '../driver/parts.js';
import { RateLimitedLog } from '../net/rate-limited-log.js';

it('the compiler refuses each field with a key that every line has already', () => {
  const logger = pino({ enabled: false });
  // @ts-expect-error
  logger.info({ level: 2 }, 'a.b');
  // @ts-expect-error
  logger.info({ time: 2 }, 'a.b');
  // @ts-expect-error
  logger.info({ pid: 2 }, 'a.b');
  // @ts-expect-error
  logger.info({ hostname: 'a' }, 'a.b');
  // @ts-expect-error
  logger.info({ msg: 'a' }, 'a.b');
  const bounded = new RateLimitedLog(logger, { after: () => ({ cancel: () => undefined }) });
  // @ts-expect-error
  logger.info({ member: 2 }, 'a.b');
  // @ts-expect-error
  bounded.info('a.b', { level: 2 });
  logger.info({ levels: 2 }, 'a.b');
  expect(logger.isLevelEnabled('info')).toBe(false);
});

it.each([
  ['level.raised', (level: EnsembleLevel) => level.raise(2)],
  ['level.waiting', (level: EnsembleLevel) => level.next(1)],
])('the line %s has the key level once', (event, log) => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(line) });
  const storage = { raiseLevel: () => undefined };
  const options = { levels: { max: 2, agreed: 2, others: [2] } };
  log(new EnsembleLevel({ options, logger, storage } as unknown as DriverParts));
  const [line = ''] = lines;
  expect(JSON.parse(line)).toMatchObject({ level: 30, msg: event });
  expect(line.match(/"level":/g)).toHaveLength(1);
});
