/**
 * Compares what a client received about a znode with what the replayed tree knows: null if they
 * agree, otherwise the difference in words. No text is built while they agree.
 */
import type { MultiPart, PartResult, Result, StatSeen } from '../../contract/history.js';
import type { Commit } from './committed-tree.js';
import type { NodeState } from './node-state.js';
import type { Write } from './part.js';

export function statDifference(seen: StatSeen, state: NodeState): string | null {
  if (
    seen.mzxid === state.mzxid &&
    seen.version === state.version &&
    seen.aversion === state.aversion &&
    seen.czxid === state.czxid &&
    seen.pzxid === state.pzxid &&
    seen.numChildren === state.childCount &&
    seen.cversion === 2 * state.creates - state.childCount &&
    seen.ephemeralOwner === state.owner
  ) {
    return null;
  }
  return `the Stat is ${JSON.stringify(seen)}, it was ${JSON.stringify(statOf(state))}`;
}

function statOf(state: NodeState): StatSeen {
  return {
    czxid: state.czxid,
    mzxid: state.mzxid,
    pzxid: state.pzxid,
    version: state.version,
    aversion: state.aversion,
    cversion: 2 * state.creates - state.childCount,
    ephemeralOwner: state.owner,
    numChildren: state.childCount,
  };
}

/** Compares the answer to a write that was performed by this commit. */
export function differenceOf(write: Write, result: Result, commit: Commit): string | null {
  if (write.kind === 'setAcl') return statOrNone(result.stat, commit.results[0] ?? null);
  if (write.kind === 'raise') {
    const next = String(commit.results[0]?.creates);
    return result.data === next ? null : `number ${result.data} was told, it was ${next}`;
  }
  if (write.kind !== 'multi') return partDifference(write, result, commit.results[0] ?? null);
  const { parts } = result;
  if (parts?.length !== write.parts.length) return `${parts?.length ?? 0} parts were answered`;
  for (let at = 0; at < parts.length; at++) {
    const part = write.parts[at];
    const told = parts[at];
    if (part === undefined || told === undefined) continue;
    const difference = partDifference(part, told, commit.results[at] ?? null);
    if (difference !== null) return `part ${at}: ${difference}`;
  }
  return null;
}

function partDifference(
  part: MultiPart,
  told: Pick<PartResult, 'path' | 'stat'>,
  state: NodeState | null,
): string | null {
  if (part.kind === 'create' && told.path !== state?.of.path) {
    return `${told.path} was told to be created, it was ${state?.of.path}`;
  }
  if (part.kind === 'set') return statOrNone(told.stat, state);
  return told.stat === null || state === null ? null : statDifference(told.stat, state);
}

function statOrNone(told: StatSeen | null, state: NodeState | null): string | null {
  if (told === null) return 'no Stat was told';
  return state === null ? null : statDifference(told, state);
}
