/**
 * Loads on a thousand keys: mixes of reads and writes, values of several sizes, more members.
 *
 * 30 connections, spread over all members, each with 32 requests outstanding or with one.
 */
import type { Workload } from '../load/workloads.js';
import { LOAD_FIGURES, measureLoad } from './load-figures.js';
import { type MemberCount, type Scale, type Scenario, scenario } from './scenario.js';

const MIXES = [0, 30, 70, 100] as const;
const WINDOWS = [32, 1] as const;
const VALUES = [100, 1024, 16_384] as const;
const MEMBERS = [3, 5, 7] as const;

const WRITES: Workload = { kind: 'mix', readPercent: 0 };
const READS: Workload = { kind: 'mix', readPercent: 100 };

export const mixScenarios: readonly Scenario[] = [
  ...WINDOWS.flatMap((window) => MIXES.map((percent) => mix(percent, window))),
  single('single-write', 'setData 100 B, 1 connection x 1', WRITES),
  single('single-read', 'getData 100 B, 1 connection x 1', READS),
  ...VALUES.flatMap((bytes) => [valueWrites(bytes), valueReads(bytes)]),
  ...MEMBERS.flatMap((members) => [memberWrites(members), memberReads(members)]),
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

function single(name: string, title: string, workload: Workload): Scenario {
  return scenario({
    name,
    title,
    group: 'mixes',
    figures: LOAD_FIGURES,
    run: (context) => measureLoad(context, { workload, connections: 1, window: 1 }),
  });
}

function valueWrites(valueBytes: number): Scenario {
  return scenario({
    name: `value-${valueBytes}-write`,
    title: `setData ${valueBytes} B, 30 connections x 32`,
    group: 'values',
    figures: LOAD_FIGURES,
    scale: { dimension: 'value bytes', what: 'setData', at: () => valueBytes },
    run: (context) => measureLoad(context, { workload: WRITES, valueBytes }),
  });
}

function valueReads(valueBytes: number): Scenario {
  return scenario({
    name: `value-${valueBytes}-read`,
    title: `getData ${valueBytes} B, 30 connections x 32`,
    group: 'values',
    figures: LOAD_FIGURES,
    scale: { dimension: 'value bytes', what: 'getData', at: () => valueBytes },
    run: (context) => measureLoad(context, { workload: READS, valueBytes }),
  });
}

function memberScale(what: string, members: number): Scale {
  return { dimension: 'members', what, at: () => members };
}

function memberWrites(members: MemberCount): Scenario {
  return scenario({
    name: `members-${members}-write`,
    title: `setData 100 B, ${members} members, 30 connections x 32`,
    group: 'members',
    members,
    figures: LOAD_FIGURES,
    scale: memberScale('setData', members),
    run: (context) => measureLoad(context, { workload: WRITES }),
  });
}

function memberReads(members: MemberCount): Scenario {
  return scenario({
    name: `members-${members}-read`,
    title: `getData 100 B, ${members} members, 30 connections x 32`,
    group: 'members',
    members,
    figures: LOAD_FIGURES,
    scale: memberScale('getData', members),
    run: (context) => measureLoad(context, { workload: READS }),
  });
}
