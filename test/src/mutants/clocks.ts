/** Mutants of how a leader uses clocks: the time of transactions, and the ages of znodes. */
import type { Mutant } from './mutant.js';

/** Clocks of single members that are wrong by hours and years, and changes of the leader. */
const WRONG_CLOCKS = [
  'members=3',
  'kinds=["wall-clock","crash-leader"]',
  'clients.readerShare=0',
  'clients.ttls=true',
  'tuning.containerCheckMs=50',
] as const;

export const clockMutants: readonly Mutant[] = [
  {
    name: 'transaction-time-falls',
    area: 'sessions',
    breaks: 'the time of transactions stays constant rather than go back a little',
    aim: WRONG_CLOCKS,
    in: 'TermTime.read',
    find: 'timeMs < this.#lastMs',
    replace: 'timeMs < this.#lastMs - 1e15',
  },
  {
    name: 'forward-jump-is-followed',
    area: 'sessions',
    breaks: "a jump of the leader's clock does not affect the times of transactions",
    aim: WRONG_CLOCKS,
    in: 'TermTime.#baseOf',
    find: 'return baseMs;',
    replace: 'return Math.max(ownBaseMs, baseMs);',
  },
  {
    name: 'wrong-time-stays',
    area: 'sessions',
    breaks: 'a wrong time is corrected once a majority of clocks is right',
    aim: [...WRONG_CLOCKS, 'members=1', 'durationMs=40000', 'spreadMs=20000'],
    in: 'TermTime.read',
    find: 'const isBack = timeMs < this.#lastMs - toleranceMs;',
    replace: 'const isBack = timeMs < this.#lastMs - Number.MAX_SAFE_INTEGER - toleranceMs;',
  },
  {
    name: 'ttl-aged-by-the-wall-clock',
    area: 'sessions',
    breaks: 'znodes that the leader has seen applied age by its monotonic clock alone',
    aim: WRONG_CLOCKS,
    in: 'LeaderNodeAges.ageMs',
    find: 'const seenMs = this.#applied.ageMs(mzxid, this.#nowMs);',
    replace: 'const seenMs = mzxid > lastZxid ? this.#nowMs + this.#wallMs - mtimeMs : 0;',
    also: [
      {
        in: 'LeaderNodeAges.tick',
        find: "if (verdict.by !== 'nobody') this.#baseMs = Math.min(this.#baseMs, verdict.baseMs);",
        replace: `this.#wallMs = verdict.basesMs.at(-1) ?? 0;
          if (verdict.by !== 'nobody') this.#baseMs = Math.min(this.#baseMs, verdict.baseMs);`,
      },
      {
        in: 'LeaderNodeAges.#baseMs',
        find: '#baseMs = Number.POSITIVE_INFINITY;',
        replace: `#wallMs = 0;
          #baseMs = Number.POSITIVE_INFINITY;`,
      },
    ],
  },
  {
    name: 'ttl-begins-anew-all-the-time',
    area: 'sessions',
    breaks: 'a TTL znode is removed within a bound after its time',
    aim: [...WRONG_CLOCKS, 'kinds=["delay"]'],
    in: 'AppliedTimes.ageMs',
    find: 'return mark === undefined ? 0 : nowMs - mark.atMs;',
    replace: 'return mark === undefined ? 0 : Math.min(nowMs - mark.atMs, 100);',
  },
];
