/**
 * Goal: no recipe costs memory for each event, however long it runs. Method: after some events have
 * warmed it up the heap is measured, then the events go on, and it is measured again. Several
 * recipes of a kind run side by side, each at a path of its own, so that the servers have something
 * to batch. It is the client's heap, so one product of servers is enough. The limit is far below
 * what a single promise, listener or entry in a set would cost.
 */
import * as library from '@rookery/client';
import { describe, expect, it } from 'vitest';
import { LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { heapBytes } from '../heap-bytes.js';
import { EVENTS, type Event } from '../recipe-events.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const LANES = 50;
const EVENTS_COUNTED = Number(process.env['ROOKERY_HEAP_EVENTS'] ?? 250);
const EVENTS_WARM = 100;
const BYTES_PER_EVENT_MAX = 200;
/** A measurement that something else has disturbed is made again; a leak stays. */
const ROUNDS_MAX = 6;

const ensemble = sharedEnsemble({ size: 1, settings: LONG_SESSIONS });

async function repeat(lanes: readonly Event[], count: number): Promise<void> {
  await Promise.all(
    lanes.map(async (event) => {
      for (let round = 0; round < count / lanes.length; round++) await event();
    }),
  );
}

describe.each(Object.entries(EVENTS))('the events of %s', (name, open) => {
  it('cost no memory each', { timeout: 600_000 }, async () => {
    const client = await useDirectClient(ensemble());
    const other = await useDirectClient(ensemble());
    const opened = Array.from({ length: LANES }, (_, lane) =>
      open(client, `/heap/${name}/${lane}`, other),
    );
    const lanes = await Promise.all(opened);
    await repeat(lanes, EVENTS_WARM);
    let bytesPerEvent = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS_MAX && bytesPerEvent > BYTES_PER_EVENT_MAX; round++) {
      const before = await heapBytes();
      await repeat(lanes, EVENTS_COUNTED);
      bytesPerEvent = ((await heapBytes()) - before) / EVENTS_COUNTED;
    }

    expect(bytesPerEvent).toBeLessThan(BYTES_PER_EVENT_MAX);
  });
});

it('there are events for each recipe of the library', () => {
  const helpers = /Error$|^(BackgroundRecipe|IdempotentEntry)$/;
  const classes = Object.entries(library)
    .filter(([, value]) => typeof value === 'function' && /^class\b/.test(String(value)))
    .map(([name]) => name)
    .filter((name) => !helpers.test(name));
  expect(Object.keys(EVENTS)).toEqual(classes.sort());
});
