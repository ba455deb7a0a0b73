/**
 * What a person wants to know at the end of a test run: which files took longest, and for each
 * failure the one command that repeats it. Used next to vitest's own reporter.
 */
import { relative } from 'node:path';
import { KEEPS_SEED } from './fresh-choices.mjs';

const SLOWEST = 10;
/** Faster files are not worth a line. */
const SLOW_MS = 5_000;

export default class TestReporter {
  onTestRunEnd(modules) {
    const slow = modules
      .map((module) => ({ module, ms: module.diagnostic().duration }))
      .filter(({ ms }) => ms >= SLOW_MS)
      .sort((a, b) => b.ms - a.ms)
      .slice(0, SLOWEST);
    if (modules.length > 1 && slow.length > 0) {
      console.log('\nSlowest files:');
      for (const { module, ms } of slow) {
        console.log(
          `${(ms / 1000).toFixed(1).padStart(7)} s  ${pathOf(module)} (${projectOf(module)})`,
        );
      }
    }
    const commands = modules.flatMap(repeatCommands);
    if (commands.length === 0) return;
    console.log(`\nRepeat ${commands.length === 1 ? 'the failure' : 'a failure'}:`);
    for (const command of commands) console.log(`  ${command}`);
  }
}

/** A command for each failed test; for a file that failed as a whole, one for the file. */
function repeatCommands(module) {
  if (module.state() !== 'failed') return [];
  const { ROOKERY_TEST_SEED, ROOKERY_FRESH_SEED } = process.env;
  const isFresh = ROOKERY_FRESH_SEED !== undefined && !KEEPS_SEED.test(module.moduleId);
  const seed = isFresh ? ROOKERY_FRESH_SEED : ROOKERY_TEST_SEED;
  const command = [
    ...(seed === undefined ? [] : [`ROOKERY_TEST_SEED=${seed}`]),
    ...['npx vitest run --project', projectOf(module), pathOf(module)],
  ].join(' ');
  const failed = [...module.children.allTests('failed')];
  if (failed.length === 0) return [command];
  return failed.map((test) => `${command} -t ${quoted(patternOf(test.fullName))}`);
}

function pathOf(module) {
  return relative(process.cwd(), module.moduleId);
}

function projectOf(module) {
  return module.project.name;
}

/** `-t` takes a regular expression, and joins the names of suites and test by spaces. */
function patternOf(fullName) {
  return `^${fullName.replaceAll(' > ', ' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
}

/** As one word of a shell command. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
