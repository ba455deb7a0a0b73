/**
 * The API of @rookery/bench: the results that a bench writes, and the reports made from them. The
 * commands are bench.ts (`npm run bench`) and profile.ts (what a CPU profile says).
 */
export { htmlReport, readChartLibrary } from './report/html.js';
export { markdownReport } from './report/markdown.js';
export type { Results, Run, ScenarioFacts } from './report/results.js';
export { textReport } from './report/text.js';
