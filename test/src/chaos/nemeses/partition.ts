/**
 * Cuts the network between members, and sometimes between members and clients.
 *
 * Packets are dropped silently. A one-way cut lets the other direction pass, but no connection
 * lasts long on it, because its acknowledgements are lost.
 */
import type { Host } from '../namespaces.js';
import type { Cut } from '../network.js';
import type { Field, Nemesis } from './nemesis.js';
import { between, bridge, halves, leaderOrAny, oneWay, ring } from './victims.js';

/** How often clients cannot reach the members either that are cut off. */
const CLIENTS_TOO = 1 / 3;

export const partitionHalves: Nemesis = {
  name: 'partition-halves',
  async strike(field, random, holdMs) {
    const { majority, minority } = halves(field.members.ids, random);
    const clients: Host[] = random.chance(CLIENTS_TOO) ? ['clients'] : [];
    const others = [...majority, ...clients].join(', ');
    field.note(`members ${minority.join(', ')} are cut off from ${others}`);
    await hold(field, between(minority, [...majority, ...clients]), holdMs);
  },
};

export const partitionRing: Nemesis = {
  name: 'partition-ring',
  async strike(field, random, holdMs) {
    const cuts = ring(field.members.ids, random);
    field.note(`each member has a majority of its own; cut: ${textOf(cuts)}`);
    await hold(field, cuts, holdMs);
  },
};

export const partitionBridge: Nemesis = {
  name: 'partition-bridge',
  async strike(field, random, holdMs) {
    const { middle, cuts } = bridge(field.members.ids, random);
    field.note(`only member ${middle} reaches all; cut: ${textOf(cuts)}`);
    await hold(field, cuts, holdMs);
  },
};

export const partitionLeader: Nemesis = {
  name: 'partition-leader',
  async strike(field, random, holdMs) {
    const leader = await leaderOrAny(field, random);
    const clients: Host[] = random.chance(CLIENTS_TOO) ? ['clients'] : [];
    const others = [...field.members.ids.filter((id) => id !== leader), ...clients];
    field.note(`the leader, member ${leader}, is cut off from ${others.join(', ')}`);
    await hold(field, between([leader], others), holdMs);
  },
};

/** One member receives nothing; what it sends arrives. */
export const blindNode: Nemesis = {
  name: 'blind-node',
  async strike(field, random, holdMs) {
    const id = random.chance(1 / 2)
      ? await leaderOrAny(field, random)
      : random.pick(field.members.ids);
    const others = field.members.ids.filter((other) => other !== id);
    field.note(`member ${id} hears no other member`);
    await hold(
      field,
      others.map((other) => oneWay(other, id)),
      holdMs,
    );
  },
};

/** Nothing that one member sends arrives; it receives what others send. */
export const blindOthers: Nemesis = {
  name: 'blind-others',
  async strike(field, random, holdMs) {
    const id = random.chance(1 / 2)
      ? await leaderOrAny(field, random)
      : random.pick(field.members.ids);
    const others = field.members.ids.filter((other) => other !== id);
    field.note(`no other member hears member ${id}`);
    await hold(
      field,
      others.map((other) => oneWay(id, other)),
      holdMs,
    );
  },
};

/** Cuts and heals within moments, each time in another place. */
export const partitionFlapping: Nemesis = {
  name: 'partition-flapping',
  async strike(field, random, holdMs) {
    const { ids } = field.members;
    field.note('halves that change every second');
    const endMs = performance.now() + holdMs;
    while (performance.now() < endMs) {
      const { majority, minority } = halves(ids, random);
      await hold(field, between(minority, majority), random.between(100, 1_500));
      await field.pause(random.between(50, 500));
    }
  },
};

async function hold({ network, pause }: Field, cuts: readonly Cut[], holdMs: number) {
  await network.cut(cuts);
  await pause(holdMs);
  await network.uncut(cuts);
}

function textOf(cuts: readonly Cut[]): string {
  return cuts.map(({ from, to }) => `${from}>${to}`).join(' ');
}
