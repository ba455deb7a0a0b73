/**
 * Makes a bad network, in which packets to one member or to all of them are lost or delayed.
 */
import { performance } from 'node:perf_hooks';
import type { Random } from '../../simulation/random.js';
import type { Weather } from '../network.js';
import type { Field, Nemesis } from './nemesis.js';

export const loss: Nemesis = {
  name: 'loss',
  needs: 'weather',
  async strike(field, random, holdMs) {
    const lossPercent = Math.round(random.between(2, 30));
    await storm(field, random, { lossPercent, delayMs: 0, rateKbit: 0 }, holdMs);
  },
};

export const delay: Nemesis = {
  name: 'delay',
  needs: 'weather',
  async strike(field, random, holdMs) {
    const delayMs = Math.round(random.between(20, 400));
    const rateKbit = Math.round(random.between(100, 1_000));
    await storm(field, random, { lossPercent: 0, delayMs, rateKbit }, holdMs);
  },
};

/** Unplugs and plugs in the host's network again and again, until it stays plugged in. */
export const linkFlapping: Nemesis = {
  name: 'link-flapping',
  async strike({ members, network, pause, note }, random, holdMs) {
    const id = random.pick(members.ids);
    note(`the plug of member ${id} is pulled and put back again and again`);
    const endMs = performance.now() + holdMs;
    while (performance.now() < endMs) {
      await network.unplug(id);
      await pause(random.between(50, 1_200));
      await network.plug(id);
      await pause(random.between(50, 1_200));
    }
  },
};

async function storm(field: Field, random: Random, weather: Weather, holdMs: number) {
  const { ids } = field.members;
  const one = random.pick(ids);
  const hosts = random.chance(1 / 2) ? ids : [one];
  const delayed =
    field.network.weatherMaker === 'netem'
      ? `${weather.delayMs} ms of delay`
      : `lines of ${weather.rateKbit} kbit/s`;
  const what = weather.lossPercent > 0 ? `${weather.lossPercent} % of loss` : delayed;
  field.note(`${what} on the way to ${hosts.length > 1 ? 'all members' : `member ${one}`}`);
  for (const host of hosts) await field.network.storm(host, weather);
  await field.pause(holdMs);
  for (const host of hosts) await field.network.calm(host);
}
