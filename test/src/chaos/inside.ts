/**
 * The inner process of `npm run chaos`. main.ts starts it in the clients' namespace and passes its
 * decisions as JSON. It prints the progress and the report; exit code 1 says that the run is not
 * valid.
 */
import { Layout } from './namespaces.js';
import type { WeatherMaker } from './network.js';
import type { ChaosOptions } from './options.js';
import { textOf } from './report.js';
import { ChaosRun } from './run.js';

export interface Handed {
  readonly options: ChaosOptions;
  readonly run: string;
  readonly directory: string;
  readonly weather: WeatherMaker | null;
  readonly without: readonly string[];
}

const EXIT_INTERRUPTED = 130;

// A handler that is registered for the exit kills the members.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => process.exit(EXIT_INTERRUPTED));
}
const handed: Handed = JSON.parse(process.argv[2] ?? '');
const { options, run, directory, weather, without } = handed;
const layout = new Layout(run, options.members);
const say = (line: string) => console.log(line);
const chaos = new ChaosRun({ options, layout, directory, weather, without, say });
const report = await chaos.run();
console.log(`\n${textOf(report)}`);
process.exit(report.valid ? 0 : 1);
