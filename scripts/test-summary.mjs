/**
 * The last line of a CI run: what vitest's JSON reports count, as "N passed, N failed[, N skipped]".
 *
 * A run that ended badly without a failed test (no report, a lint or build error, a file that could
 * not be loaded) counts as one failure, so that the line never looks better than the exit code.
 *
 *   node scripts/test-summary.mjs EXIT_CODE REPORT...
 */
import { readFileSync } from 'node:fs';

const [codeText = '1', ...paths] = process.argv.slice(2);
const code = Number(codeText);
const reports = paths.map(readReport);
const sum = (key) => reports.reduce((total, report) => total + (report[key] ?? 0), 0);
const passed = sum('numPassedTests');
const skipped = sum('numPendingTests') + sum('numTodoTests');
const failedTests = sum('numFailedTests');
const isEmpty = reports.some((report) => !(report.numPassedTests > 0));
const failed = failedTests === 0 && (code !== 0 || isEmpty) ? 1 : failedTests;

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed > 0 ? code || 1 : 0);

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    console.log('there is no test report');
    return {};
  }
}
