/**
 * `npm run faults` plays single faults against an ensemble of real processes, and prints for each
 * how long writes stood still, how many elections there were, who served, and what the commands,
 * probes and metrics said meanwhile.
 *
 * Exit codes: 0 when every promise held; 1 when one did not; 2 when the arguments are wrong.
 */
import { parseArgs } from 'node:util';
import type { Outcome } from './scenario.js';
import { SCENARIOS } from './scenarios.js';

const USAGE = `Usage: npm run faults -- [--list] [--only NAME,NAME] [--short]
  --list   prints the scenarios
  --only   plays only these
  --short  plays fewer variants of each`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === null) {
    console.error(USAGE);
    return 2;
  }
  if (options.list) {
    for (const { name, promise } of SCENARIOS) console.log(`${name.padEnd(20)} ${promise}`);
    return 0;
  }
  let [played, broken] = [0, 0];
  for (const scenario of SCENARIOS.filter(({ name }) => options.names.includes(name))) {
    console.log(`\n${scenario.name}: ${scenario.promise}`);
    const report = (outcome: Outcome) => {
      played += 1;
      if (outcome.broken.length > 0) broken += 1;
      print(outcome);
    };
    await scenario.play({ report, isShort: options.isShort });
  }
  console.log(`\n${played} faults played, ${broken} with a broken promise`);
  return broken > 0 || played === 0 ? 1 : 0;
}

function readOptions(): { names: readonly string[]; list: boolean; isShort: boolean } | null {
  const known = SCENARIOS.map(({ name }) => name);
  try {
    const { values } = parseArgs({
      options: { list: { type: 'boolean' }, only: { type: 'string' }, short: { type: 'boolean' } },
    });
    const names = values.only?.split(',') ?? known;
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw new Error(`there is no scenario "${unknown}": ${known.join(', ')}`);
    }
    return { names, list: values.list ?? false, isShort: values.short ?? false };
  } catch (error) {
    console.error(`faults: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

function print({ fault, seen, elections, serving, said, broken }: Outcome): void {
  const errors = Object.entries(seen.errors).map(([code, count]) => `${count} of ${code}`);
  const figures = [
    `longest gap of writes ${Math.round(seen.longestWriteGapMs)} ms`,
    `longest wait ${Math.round(seen.longestWaitMs)} ms`,
    `${elections} elections`,
    `${seen.acknowledgedWrites} writes`,
    `${seen.connectionsLost} connections lost`,
    `refused: ${errors.length === 0 ? 'none' : errors.join(', ')}`,
    `serving: ${serving.join(', ') || 'none'}`,
  ];
  console.log(`  ${broken.length === 0 ? 'held  ' : 'BROKEN'} ${fault}`);
  console.log(`         ${figures.join(' | ')}`);
  for (const sentence of said) console.log(`         ${sentence}`);
  for (const sentence of broken) console.log(`         BROKEN: ${sentence}`);
}
