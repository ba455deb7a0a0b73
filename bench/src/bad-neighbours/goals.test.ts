/**
 * A bad neighbour counts as contained only if nothing forbidden happened in any round. The results
 * are made by hand, with one figure at its bound and beyond it.
 */
import { describe, expect, it } from 'vitest';
import { sampleResults } from '../report/sample-results.js';
import { boundText } from '../report/text.js';
import { sectionsOf } from '../report/verdicts.js';
import { plannedRuns } from '../run/schedule.js';
import { settingsOf } from '../run/settings.js';
import { chooseScenarios } from '../scenarios/table.js';
import { BAD_NEIGHBOURS } from './all.js';
import type { BadNeighbour } from './bad-neighbour.js';
import { SLOWEST_ANSWER_MS } from './goals.js';
import { badNeighbourScenario } from './scenario.js';

type Values = Readonly<Record<string, readonly number[]>>;

const [neighbour] = BAD_NEIGHBOURS;
if (neighbour === undefined) throw new Error('there is no bad neighbour');

const contained: Values = {
  maxMs: [20, SLOWEST_ANSWER_MS, 30],
  elections: [0, 0, 0],
  membersEnded: [0, 0, 0],
  peakMb: [100, neighbour.memoryBoundMB, 90],
};

function verdict(values: Values, system = 'rookery') {
  const results = sampleResults([{ scenario: neighbour?.name ?? '', system, values }]);
  const verdicts = sectionsOf(results).flatMap((section) => section.verdicts);
  const found = verdicts.find(({ what }) => what === `beside: ${neighbour?.what}`);
  if (found === undefined) throw new Error('a bad neighbour has no row in the report');
  return found;
}

describe('the verdict on a bad neighbour', () => {
  it('is "contained" when every round keeps to every bound', () => {
    expect(verdict(contained).outcome).toBe('met');
  });

  it.each([
    ['an election', { elections: [0, 1, 0] }],
    ['a member that ended', { membersEnded: [0, 0, 1] }],
    ['an answer slower than the bound', { maxMs: [20, SLOWEST_ANSWER_MS + 0.1, 20] }],
    ['a member above its memory', { peakMb: [100, 90, neighbour.memoryBoundMB + 0.1] }],
  ])('is "not contained" when one round of several had %s', (_, values) => {
    expect(verdict({ ...contained, ...values }).outcome).toBe('not met');
  });

  it('is open when a figure is missing, and does not depend on what ZooKeeper did', () => {
    const { elections: _, ...rest } = contained;
    expect(verdict(rest).outcome).toBe('not measured');
    expect(verdict(contained, 'zookeeper').outcome).toBe('not measured');
  });

  it('prints each goal with its bound', () => {
    const { goals } = verdict(contained);
    const texts = goals.flatMap(({ bounds, row }) =>
      bounds.map((bound) => boundText(bound, row.figure.unit)),
    );
    expect(texts).toEqual([
      'at most 250 ms in every round: met',
      'none in any round: met',
      'none in any round: met',
      `at most ${neighbour.memoryBoundMB} MB in every round: met`,
    ]);
  });

  it('is found by the name of its group, and no two neighbours share a name', () => {
    const names = BAD_NEIGHBOURS.map(({ name }) => name);
    expect(chooseScenarios(['bad-neighbour']).map(({ name }) => name)).toEqual(names);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^bad-[a-z0-9-]+$/);
  });

  it('includes ZooKeeper only where ZooKeeper has what is attacked', () => {
    const lone: BadNeighbour = { ...neighbour, name: 'bad-lone', onZooKeeper: false };
    const both: BadNeighbour = { ...neighbour, name: 'bad-both', onZooKeeper: true };
    const settings = settingsOf({
      rounds: 1,
      seconds: 1,
      warmup: 0,
      minutes: undefined,
      quick: true,
    });
    const runs = plannedRuns([lone, both].map(badNeighbourScenario), {
      settings,
      systems: ['rookery', 'zookeeper'],
    });
    expect(runs.map(({ scenario, system }) => `${scenario.name} ${system}`)).toEqual([
      'bad-lone rookery',
      'bad-both rookery',
      'bad-both zookeeper',
    ]);
  });
});
