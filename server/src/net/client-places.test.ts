/** Which connections get a place of the client port, for each address. */
import { expect, it } from 'vitest';
import { ClientPlaces, type PlaceBounds } from './client-port.js';

const NO_LIMIT = { streamsMax: Infinity, connectionsPerAddressMax: 0, boundsLoopback: true };

function placesOf(options: Partial<PlaceBounds>): ClientPlaces {
  return new ClientPlaces({ ...NO_LIMIT, ...options });
}

/** How many places the address gets, at most `max`. */
function takeAll(places: ClientPlaces, address: string, max = 1000): number {
  let count = 0;
  while (count < max && places.refusalFor(address) === null) {
    places.take(address);
    count += 1;
  }
  return count;
}

it('bounds one address, and takes addresses of one network of IPv6 for one', () => {
  const places = placesOf({ connectionsPerAddressMax: 3 });
  expect(takeAll(places, '10.0.0.1')).toBe(3);
  expect(takeAll(places, '::ffff:10.0.0.1')).toBe(0);
  expect(takeAll(places, '10.0.0.2')).toBe(3);
  expect(takeAll(places, '2001:db8::1')).toBe(3);
  expect(takeAll(places, '2001:db8::2')).toBe(0);
  expect(takeAll(places, '2001:db8:0:1::1')).toBe(3);
  expect(places.refusalFor('10.0.0.1')).toMatchObject({ maxClientCnxns: 3 });
  places.leave('10.0.0.1');
  expect(takeAll(places, '10.0.0.1')).toBe(1);
});

it('does not bound loopback addresses unless it is told to', () => {
  const loopback = ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'];
  for (const address of loopback) {
    const options = { connectionsPerAddressMax: 3 };
    expect(takeAll(placesOf({ ...options, boundsLoopback: false }), address, 50)).toBe(50);
    expect(takeAll(placesOf({ ...options, boundsLoopback: true }), address, 50)).toBe(3);
  }
});

it('keeps places for addresses that have none, and for words', () => {
  const places = placesOf({ streamsMax: 448 });
  expect(takeAll(places, '10.0.0.1')).toBe(392);
  expect(places.refusalFor('10.0.0.1')).toMatchObject({ connections: 392, streamsMax: 448 });
  for (let host = 1; host <= 28; host++) {
    expect(places.refusalFor(`10.0.1.${host}`)).toBe(null);
    places.take(`10.0.1.${host}`);
    expect(places.refusalFor(`10.0.1.${host}`)?.['reason']).toContain('for other addresses');
  }
  expect(places.refusalFor('10.0.2.1')?.['reason']).toContain('all places are taken');
  expect(places.streamsMax).toBe(434);
});

it('has no other bound without a limit of open files, and none for clients of this process', () => {
  expect(takeAll(placesOf({}), '10.0.0.1', 10_000)).toBe(10_000);
  expect(takeAll(placesOf({ streamsMax: 8, connectionsPerAddressMax: 1 }), '', 100)).toBe(100);
});
