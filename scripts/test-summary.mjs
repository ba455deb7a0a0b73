/**
 * The last line of a CI run: what vitest's JSON reports count, as "N passed, N failed[, N
 * skipped]".
 *
 * A run that ended badly without a failed test (no report, a lint or build error, a file that could
 * not be loaded) counts as one failure, so that the line never looks better than the exit code.
 *
 * Failed tests are named before it once more, for a reader who has only the end of the output.
 *
 *   node scripts/test-summary.mjs EXIT_CODE REPORT...
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** The characters that are shown of a failure. */
const CHARS_MAX = 1_000;

const [codeText = '1', ...paths] = process.argv.slice(2);
const code = Number(codeText);
const reports = paths.map(readReport);
const sum = (key) => reports.reduce((total, report) => total + (report[key] ?? 0), 0);
const passed = sum('numPassedTests');
const skipped = sum('numPendingTests') + sum('numTodoTests');
const failedTests = sum('numFailedTests');
const isEmpty = reports.some((report) => !(report.numPassedTests > 0));
const failed = failedTests === 0 && (code !== 0 || isEmpty) ? 1 : failedTests;

for (const { testResults = [] } of reports) for (const file of testResults) nameFailures(file);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed > 0 ? code || 1 : 0);

function nameFailures({ name, status, message, assertionResults = [] }) {
  const failedOnes = assertionResults.filter((test) => test.status === 'failed');
  const path = relative(process.cwd(), name);
  if (status === 'failed' && failedOnes.length === 0) console.log(`failed: ${path}: ${message}`);
  for (const { fullName, failureMessages } of failedOnes) {
    console.log(
      `failed: ${path}: ${fullName}\n  ${String(failureMessages[0]).slice(0, CHARS_MAX)}`,
    );
  }
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    console.log('there is no test report');
    return {};
  }
}
