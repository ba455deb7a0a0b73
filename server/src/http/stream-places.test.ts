/** Whoever opens streams without end leaves others a quarter of the places, and says so. */
import { expect, it } from 'vitest';
import { askerOf } from './api/caller.js';
import { StreamPlaces } from './event-stream.js';
import { HttpError } from './http-port.js';

const REFUSAL = { what: 'follow the events', otherwise: 'ask another member' };
const ANN = askerOf({ user: 'ann', remoteAddress: '127.0.0.1' });
const BOB = askerOf({ user: 'bob', remoteAddress: '127.0.0.1' });

function refusalOf(places: StreamPlaces, asker: string): HttpError {
  try {
    places.take(asker);
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  return expect.unreachable('there is a place');
}

it('gives one user three quarters of the places, and another one the last', () => {
  const places = new StreamPlaces(4, REFUSAL);
  const [giveBack] = [1, 2, 3].map(() => places.take(ANN));
  const { status, message, headers } = refusalOf(places, ANN);
  expect([status, headers]).toEqual([429, { 'retry-after': '5' }]);
  expect(message).toBe(
    'You follow the events 3 times here already: end one of these streams first.',
  );
  places.take(BOB);
  expect(refusalOf(places, BOB).message).toBe(
    '4 readers follow the events here already: ask another member.',
  );
  giveBack?.();
  places.take(BOB);
  expect(refusalOf(places, ANN).message).toMatch(/^4 readers/);
});

it('has all places again once they are given back', () => {
  const places = new StreamPlaces(4, REFUSAL);
  for (let round = 0; round < 3; round += 1) {
    const taken = [ANN, ANN, ANN, BOB].map((asker) => places.take(asker));
    expect(refusalOf(places, BOB).message).toMatch(/^4 readers/);
    for (const giveBack of taken) giveBack();
  }
});

it('counts a user who comes from several addresses of one network once', () => {
  const from = (remoteAddress: string) => askerOf({ user: null, remoteAddress });
  expect(from('2001:db8::1')).toBe(from('2001:db8::2'));
  expect(from('::ffff:10.0.0.1')).toBe(from('10.0.0.1'));
  expect(from('10.0.0.1')).not.toBe(from('10.0.0.2'));
});
