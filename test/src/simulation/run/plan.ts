/**
 * Which faults a run has, when, and their random numbers: a pure function of the options.
 *
 * Each fault is drawn from a stream of its own, named by its index, so omitting one changes no
 * other. The indices are those that `--only` names.
 */
import type { PlannedFault } from '../contract/fault.js';
import { DICE_COUNT } from '../faults/index.js';
import { Random } from '../random.js';
import { logarithmic, type RunOptions } from './options.js';

const LASTS_LOW_MS = 20;
const LASTS_HIGH_MS = 6_000;
/** For faults that are planned for certain: a run may end soon. */
const CERTAIN_MS_MAX = 400;

/** In the order of their beginnings. */
export function planOf(options: RunOptions): readonly PlannedFault[] {
  const { only, durationMs } = options;
  const kept = only === null ? null : new Set(only);
  return Array.from({ length: options.faults }, (_, at) => drawFault(options, at + 1))
    .filter(({ index, atMs }) => atMs < durationMs && (kept === null || kept.has(index)))
    .sort((a, b) => a.atMs - b.atMs || a.index - b.index);
}

function drawFault(options: RunOptions, index: number): PlannedFault {
  const random = new Random(options.seed).fork(`fault ${index}`);
  const kind = random.pick(options.kinds);
  const certain = certainOf(options)[index - 1];
  // Early, because some take several steps until they have happened, and one after the other.
  const from = certain === undefined ? 0 : 0.04 + 0.2 * (index - 1);
  const until = certain === undefined ? 1 : from + 0.1;
  const atMs = Math.floor(random.between(from * options.spreadMs, until * options.spreadMs));
  const lastsMs = logarithmic(random, LASTS_LOW_MS, LASTS_HIGH_MS);
  return {
    index,
    kind: certain ?? kind,
    atMs,
    forMs: Math.round(Math.min(lastsMs, certain === undefined ? LASTS_HIGH_MS : CERTAIN_MS_MAX)),
    dice: Array.from({ length: DICE_COUNT }, () => random.next()),
  };
}

function certainOf({ certain, kinds }: RunOptions): readonly string[] {
  return certain.filter((kind) => kinds.includes(kind));
}
