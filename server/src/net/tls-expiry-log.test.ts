/** What is noted last is what is followed, from `start` to `close`. */
import { expect, it } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { TlsExpiryLog } from './watched-tls.js';

const HOUR_MS = 3_600_000;

function useLog() {
  const timers = new ManualTimers();
  const { logger, lines } = keptLog();
  const events = { lasting: 'lasting', ending: 'ending', expired: 'expired' };
  const log = new TlsExpiryLog({ events, warnMs: HOUR_MS }, logger, timers);
  const told = () => lines.splice(0).map(({ msg, name }) => `${msg} ${name}`);
  const expiring = (name: string, inMs: number) => {
    return { endsWallMs: timers.wallMs() + inMs - 1_000, facts: { name } };
  };
  return { timers, log, told, expiring };
}

it('follows what is noted later, and what was there before no more', async () => {
  const { timers, log, told, expiring } = useLog();
  log.note(null);
  log.start();
  log.note(expiring('first', 3 * HOUR_MS));
  expect(told()).toEqual(['lasting first']);
  await timers.advance(2 * HOUR_MS);
  expect(told()).toEqual(['ending first']);
  log.note(expiring('second', 3 * HOUR_MS));
  expect(told()).toEqual(['lasting second']);
  await timers.advance(2 * HOUR_MS - 1);
  expect(told()).toEqual([]);
  await timers.advance(1);
  expect(told()).toEqual(['ending second']);
  log.note(null);
  await timers.advance(48 * HOUR_MS);
  expect(told()).toEqual([]);
});

it('follows nothing after its close, also what is noted then', async () => {
  const { timers, log, told, expiring } = useLog();
  log.start();
  log.close();
  log.note(expiring('late', HOUR_MS + 1));
  await timers.advance(48 * HOUR_MS);
  expect(told()).toEqual(['lasting late']);
});
