/**
 * Writes all that `rookery` loads into one file, `cli/dist/bundled.js`, behind `tsc -b`.
 *
 * A cache of modules, nothing more: `cli/src/main.ts` runs it while it is newer than what it was
 * made from, so it gets the time at which that was read. It is there whole or not at all; where it
 * cannot be made, this says so, and members load module by module. Left outside is what loads
 * native code, and what few starts need. Names stay as they are and lines are kept, so stacks can
 * be read; the map beside it leads to the sources.
 *
 *   node scripts/bundle.mjs
 */
import { rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'cli/dist');

try {
  await bundle();
} catch (error) {
  console.error(`rookery: members start a little slower, no bundle is made: ${error.message}`);
}

async function bundle() {
  const readAt = new Date();
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: join(dist, 'program.js'),
    platform: 'node',
    external: ['level', 'msgpackr', 'pino-pretty'],
  });
  const { output } = await build.generate({
    file: join(dist, 'bundled.js'),
    format: 'esm',
    comments: false,
    sourcemap: true,
  });
  await build.close();
  // The map, an asset, comes before the code that names it.
  for (const file of output.toSorted((a, b) => a.type.localeCompare(b.type))) {
    await replace(file.fileName, file.type === 'chunk' ? file.code : file.source, readAt);
  }
}

async function replace(name, content, time) {
  const path = join(dist, name);
  const whole = `${path}.${process.pid}`;
  try {
    await writeFile(whole, content);
    await utimes(whole, time, time);
    await rename(whole, path);
  } finally {
    await rm(whole, { force: true });
  }
}
