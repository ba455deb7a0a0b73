/**
 * Loads on a thousand keys: mixes of reads and writes, values of several sizes, more members.
 *
 * 30 connections are spread over all members, each with 32 requests outstanding or with one. Values
 * of 8 KB and more have 8 connections with 4 each: enough to keep every system busy, while what is
 * outstanding stays at a few megabytes.
 */
import type { Workload } from '../load/workloads.js';
import { LOAD_FIGURES, measureLoad } from './load-figures.js';
import { type MemberCount, type Scenario, scenario } from './scenario.js';

const MIXES = [0, 30, 70, 100] as const;
const WINDOWS = [32, 1] as const;
export const VALUES = [
  { valueBytes: 100, connections: 30, window: 32 },
  { valueBytes: 1024, connections: 30, window: 32 },
  { valueBytes: 8192, connections: 8, window: 4 },
  { valueBytes: 65_536, connections: 8, window: 4 },
] as const;
export type ValueLoad = (typeof VALUES)[number];
const MEMBERS = [3, 5, 7] as const;

type Kind = 'write' | 'read';
const KINDS: Readonly<Record<Kind, { readonly what: string; readonly workload: Workload }>> = {
  write: { what: 'setData', workload: { kind: 'mix', readPercent: 0 } },
  read: { what: 'getData', workload: { kind: 'mix', readPercent: 100 } },
};

export const mixScenarios: readonly Scenario[] = [
  ...WINDOWS.flatMap((window) => MIXES.map((percent) => mix(percent, window))),
  ...[single('write'), single('read')],
  ...VALUES.flatMap((load) => [values('write', load), values('read', load)]),
  ...MEMBERS.flatMap((members) => [
    ofMembers('write', members),
    ofMembers('read', members),
    oneByOne(members),
  ]),
];

function mix(readPercent: number, window: number): Scenario {
  return scenario({
    name: `mix-${readPercent}-w${window}`,
    title: `${mixTitle(readPercent)} 100 B, 30 connections x ${window}`,
    group: 'mixes',
    figures: LOAD_FIGURES,
    run: (context) => measureLoad(context, { workload: { kind: 'mix', readPercent }, window }),
  });
}

function mixTitle(readPercent: number): string {
  if (readPercent === 100) return 'getData';
  if (readPercent === 0) return 'setData';
  return `${readPercent} % getData, ${100 - readPercent} % setData`;
}

function single(kind: Kind): Scenario {
  const { what, workload } = KINDS[kind];
  return scenario({
    name: `single-${kind}`,
    title: `${what} 100 B, 1 connection x 1`,
    group: 'mixes',
    figures: LOAD_FIGURES,
    run: (context) => measureLoad(context, { workload, connections: 1, window: 1 }),
  });
}

function values(kind: Kind, load: ValueLoad): Scenario {
  const { what, workload } = KINDS[kind];
  const { valueBytes, connections, window } = load;
  return scenario({
    name: `value-${valueBytes}-${kind}`,
    title: `${what} ${valueBytes} B, ${connections} connections x ${window}`,
    group: 'values',
    figures: LOAD_FIGURES,
    scale: { dimension: 'value bytes', what, at: () => valueBytes },
    run: (context) => measureLoad(context, { workload, ...load }),
  });
}

function ofMembers(kind: Kind, members: MemberCount): Scenario {
  const { what, workload } = KINDS[kind];
  return scenario({
    name: `members-${members}-${kind}`,
    title: `${what} 100 B, ${members} members, 30 connections x 32`,
    group: 'members',
    members,
    figures: LOAD_FIGURES,
    scale: { dimension: 'members', what, at: () => members },
    run: (context) => measureLoad(context, { workload }),
  });
}

function oneByOne(members: MemberCount): Scenario {
  const { what, workload } = KINDS.write;
  return scenario({
    name: `members-${members}-single`,
    title: `${what} 100 B, ${members} members, 1 connection x 1`,
    group: 'members',
    members,
    figures: LOAD_FIGURES,
    scale: { dimension: 'members', what: `${what} one by one`, at: () => members },
    run: (context) => measureLoad(context, { workload, connections: 1, window: 1 }),
  });
}
