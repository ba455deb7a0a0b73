/**
 * Writes all that `rookery` loads into one file, `cli/dist/bundled.js`, behind `tsc -b`.
 *
 * A cache of modules, nothing more: `cli/src/main.ts` runs it while it is newer than what it was
 * made from. Left outside is what loads native code, and what few starts need. Names stay as they
 * are and lines are kept, so stacks can be read; the map beside it leads to the sources.
 *
 *   node scripts/bundle.mjs
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'cli/dist');

const build = await rolldown({
  input: join(dist, 'program.js'),
  platform: 'node',
  external: ['level', 'msgpackr', 'pino-pretty'],
});
await build.write({
  file: join(dist, 'bundled.js'),
  format: 'esm',
  comments: false,
  sourcemap: true,
});
await build.close();
