/**
 * Members whose files differ in what they must share: nobody serves with both kinds.
 *
 * Each case starts member 3 again with another value. On a release that compares nothing it joins,
 * and with a longer peerTimeoutMs two clients can hold one lock.
 */
import { describe, expect, it } from 'vitest';
import type { Config } from '../config/config.js';
import { sharedSettings } from '../member/member-options.js';
import { simulatedConfig } from './memory-ensemble.js';
import { connected, everyoneServes, serving, write } from './scenario.js';

const UNEQUAL: readonly Partial<Config>[] = [
  { peerTimeoutMs: 12_000 },
  { tickTimeMs: 3_000 },
  { minSessionTimeoutMs: 5_000 },
  { maxSessionTimeoutMs: 50_000 },
  { frameBytesMax: 2_000_000 },
  { extendedTypes: false },
  { skipACL: true },
  { enforceQuota: true },
  { ephemeralsPerSessionMax: 10 },
  { multiOpsMax: 100 },
  { pathDepthMax: 50 },
  { neverUsedContainersMs: 60_000 },
  { treeBytesMax: 1_000_000_000 },
];

describe('a member whose file differs', () => {
  it.each(UNEQUAL)('in %j is refused on both sides, which name both values', async (unequal) => {
    const ensemble = await serving();
    const [name, value] = Object.entries(unequal)[0] ?? ['', ''];
    await ensemble.stop(3);
    await ensemble.until(() => ensemble.leader > 0, 'was there a leader');
    ensemble.settings.set(3, unequal);
    await ensemble.start(3);
    await ensemble.timers.advance(5_000);
    expect(ensemble.serves(3)).toBe(false);
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, ['/others-go-on']);
    const own = Object.entries(ensemble.config).find(([key]) => key === name)?.[1];
    const told = ensemble.lines.filter((line) => line.includes('"level":50'));
    for (const line of told) {
      expect(line).toMatch(new RegExp(`${name} is .* at member . and .* at member .: stop all`));
      expect(line).toContain(` ${value} at member 3`);
      expect(line).toContain(` ${own} at member `);
    }
    const members = new Set(told.map((line) => /"member":(\d)/.exec(line)?.[1]));
    expect([...members].sort()).toEqual(['1', '2', '3']);
    expect(told.length).toBeLessThan(10);
    ensemble.settings.delete(3);
    await ensemble.stop(3);
    await ensemble.start(3);
    await everyoneServes(ensemble);
  });

  it('lists other servers is refused on both sides, which name both lists', async () => {
    const ensemble = await serving();
    const { servers } = ensemble.config;
    const text = (list: typeof servers) => list.map(({ id, host }) => `${id}=${host}`).join(' ');
    const [first] = servers;
    if (first === undefined) throw new Error('there are three');
    const longer = [...servers, { ...first, id: 4, host: 'a-fourth' }];
    await ensemble.stop(3);
    await ensemble.until(() => ensemble.leader > 0, 'was there a leader');
    ensemble.settings.set(3, { servers: longer });
    await ensemble.start(3);
    await ensemble.timers.advance(5_000);
    expect(ensemble.serves(3)).toBe(false);
    const told = ensemble.lines.filter((line) => line.includes('"level":50'));
    for (const line of told) {
      expect(line).toContain(`${text(longer)} at member 3`);
      expect(line).toContain(`${text(servers)} at member `);
    }
    const members = new Set(told.map((line) => /"member":(\d)/.exec(line)?.[1]));
    expect([...members].sort()).toEqual(['1', '2', '3']);
  });

  it('in what members need not share serves with the others', async () => {
    const ensemble = await serving();
    await ensemble.stop(3);
    ensemble.settings.set(3, { globalOutstandingLimit: 7, readOnlyMode: true, logLevel: 'warn' });
    await ensemble.start(3);
    await everyoneServes(ensemble);
  });
});

describe('the list of servers that members compare', () => {
  const seats = [1, 2, 3].map((id) => ({ id, host: `host-${id}` }));

  it('is the same in whatever order the file has them', () => {
    const [one, other] = [seats, [...seats].reverse()].map((all) => simulatedConfig(all));
    if (one === undefined || other === undefined) throw new Error('two configurations');
    expect(sharedSettings(one)).toEqual(sharedSettings(other));
    expect(sharedSettings(one)[0]).toEqual(['servers', '1=host-1 2=host-2 3=host-3']);
  });

  it('is short for 255 members, and another one for each address', () => {
    const many = Array.from({ length: 255 }, (_, index) => ({
      id: index + 1,
      host: `${'long-'.repeat(20)}${index}`,
    }));
    const last = many.map((seat) => (seat.id === 255 ? { ...seat, host: 'other' } : seat));
    const texts = [many, last].map((all) => sharedSettings(simulatedConfig(all))[0]?.[1] ?? '');
    expect(texts.map((text) => text.length)).toEqual([texts[0]?.length, texts[0]?.length]);
    expect(texts[0]?.length).toBeLessThanOrEqual(1000);
    expect(texts[0]).not.toBe(texts[1]);
  });
});
