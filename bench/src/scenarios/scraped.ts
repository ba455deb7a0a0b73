/**
 * What it costs to be monitored. The same load runs with and without a scrape of every member in
 * each second, in alternate parts of one run, so that both meet the same machine.
 *
 * A machine changes its speed by more than scrapes cost, so the cost is measured as processor time:
 * of many scrapes in a row right after the load, when every figure has a value. A member that is
 * scraped once a second and takes a millisecond for it has a thousandth less for its clients.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadResult } from '../load/load.js';
import type { Context } from '../run/context.js';
import { metricsOf } from '../systems/metrics.js';
import { warmUp } from './load-figures.js';
import { type Measurement, measurement, type Scenario, scenario } from './scenario.js';

/** The runs of each kind; their order changes from pair to pair, as a machine may slow down. */
const PAIRS = 4;
const SCRAPE_MS = 1000;
/** Scrapes of each member whose processor time is measured, and the time between two of them. */
const COUNTED = 200;
const COUNTED_EVERY_MS = 20;
const WRITES = { workload: { kind: 'mix', readPercent: 0 } } as const;

export const scrapedScenarios: readonly Scenario[] = [
  scenario({
    name: 'scraped-writes',
    title: 'setData 100 B, 30 connections x 32, each member scraped once a second',
    group: 'monitoring',
    figures: [
      { key: 'perSecond', title: 'operations', unit: '1/s', better: 'higher' },
      { key: 'costPercent', title: 'processor time of scrapes', unit: '%', better: 'lower' },
      { key: 'lostPercent', title: 'fewer operations than without', unit: '%', better: 'lower' },
      { key: 'scrapeMs', title: 'a scrape, mean', unit: 'ms', better: 'lower' },
    ],
    isFresh: true,
    isRookeryOnly: true,
    needsProcesses: true,
    memberSettings: { isOperated: true },
    secondsAbout: ({ seconds, warmupSeconds }) =>
      2 * PAIRS * (seconds + warmupSeconds + 1) + (2 * COUNTED * COUNTED_EVERY_MS) / 1000,
    run: writesWhileScraped,
  }),
];

async function writesWhileScraped(context: Context): Promise<Measurement> {
  await warmUp(context);
  const plain: LoadResult[] = [];
  const scraped: LoadResult[] = [];
  const scrapes = { count: 0, ms: 0 };
  const scrapedLoad = async () => {
    const load = context.load(WRITES);
    const over = load.then(
      () => true,
      () => true,
    );
    await scrapeUntil(over, context, scrapes);
    scraped.push(await load);
  };
  for (let pair = 0; pair < PAIRS; pair++) {
    context.step(`pair ${pair + 1} of ${PAIRS}`);
    if (pair % 2 === 1) await scrapedLoad();
    plain.push(await context.load(WRITES));
    if (pair % 2 === 0) await scrapedLoad();
  }
  const [without, perSecond] = [rateOf(plain), rateOf(scraped)];
  return measurement({
    perSecond,
    costPercent: (100 * (await cpuMsOfScrape(context))) / SCRAPE_MS,
    lostPercent: 100 * (1 - perSecond / without),
    scrapeMs: scrapes.ms / Math.max(1, scrapes.count),
  });
}

/** Returns how much processor time one scrape takes of a member, without its idle load. */
async function cpuMsOfScrape(context: Context): Promise<number> {
  const { ensemble, system } = context;
  context.step('the processor time of a scrape');
  const cpuMs = async (each: () => Promise<unknown>) => {
    const before = ensemble.facts().cpuSeconds;
    for (let count = 0; count < COUNTED; count++) {
      await each();
      await sleep(COUNTED_EVERY_MS);
    }
    return 1000 * (ensemble.facts().cpuSeconds - before);
  };
  const idleMs = await cpuMs(async () => undefined);
  const scrapedMs = await cpuMs(() => Promise.all(system.hosts.map(metricsOf)));
  return Math.max(0, scrapedMs - idleMs) / (COUNTED * system.hosts.length);
}

async function scrapeUntil(
  over: Promise<boolean>,
  { system }: Context,
  scrapes: { count: number; ms: number },
): Promise<void> {
  for (;;) {
    await Promise.all(
      system.hosts.map(async (host) => {
        const beganMs = performance.now();
        await metricsOf(host);
        scrapes.count += 1;
        scrapes.ms += performance.now() - beganMs;
      }),
    );
    if (await Promise.race([over, sleep(SCRAPE_MS, false)])) return;
  }
}

function rateOf(results: readonly LoadResult[]): number {
  const sum = (of: (result: LoadResult) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  return sum(({ operations }) => operations) / sum(({ seconds }) => seconds);
}
