/**
 * The hunt for the mutant in this build: runs of the simulator, seed after seed, until one fails.
 *
 * It is a program of its own, which trial.ts runs in the workspace: `hunt.js <first seed> <seeds>
 * <path=json> ...`. It prints, as one JSON object per line, which seed begins and the result of the
 * last one. In every second seed clients pause for longer, some only read, and faults are frequent,
 * because most bugs need faults, and not load, to show. The given settings apply to those seeds,
 * too.
 */
import { optionsOf } from '../simulation/run/arguments.js';
import { runOne } from '../simulation/run/run.js';
import type { HuntLine } from './trial.js';

/** Two faults a second, for twenty seconds. */
const TROUBLED = [
  ...['durationMs=20000', 'spreadMs=20000', 'faults=40'],
  ...['clients.thinkMaxMs=30', 'clients.readerShare=0.3'],
];

const [firstSeed = 1, seeds = 1] = process.argv.slice(2, 4).map(Number);
const aim = process.argv.slice(4);

await hunt();
process.exit(0);

async function hunt(): Promise<void> {
  let requests = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    say({ kind: 'begins', seed });
    const result = await runOne(
      optionsOf({ seed, set: seed % 2 === 0 ? [...TROUBLED, ...aim] : [] }),
    );
    requests += result.requests;
    if (result.failure === null) continue;
    const { property, message } = result.failure;
    return say({ kind: 'caught', seed, requests, property, message });
  }
  say({ kind: 'survived', requests });
}

function say(line: HuntLine): void {
  console.log(JSON.stringify(line));
}
