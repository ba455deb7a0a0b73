/**
 * The last line of a CI run: what vitest's JSON report counts, as "N passed, N failed[, N skipped]".
 *
 * A run that ended badly without a failed test (no report, a lint or build error, a file that could
 * not be loaded) counts as one failure, so that the line never looks better than the exit code.
 *
 *   node scripts/test-summary.mjs REPORT EXIT_CODE
 */
import { readFileSync } from 'node:fs';

const [path = '', codeText = '1'] = process.argv.slice(2);
const code = Number(codeText);
const report = readReport();
const passed = report.numPassedTests ?? 0;
const skipped = (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0);
const failedTests = report.numFailedTests ?? 0;
const failed = failedTests === 0 && (code !== 0 || passed === 0) ? 1 : failedTests;

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed > 0 ? code || 1 : 0);

function readReport() {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    console.log('there is no test report');
    return {};
  }
}
