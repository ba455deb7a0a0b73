/**
 * Writes all that a member loads into one file, `cli/dist/bundled.js`, behind `tsc -b`, and what it
 * loads only when it is asked for into a few beside it.
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
    // What the entry and a chunk share stays in the entry.
    preserveEntrySignatures: 'allow-extension',
    external: ['level', 'msgpackr', 'pino-pretty', 'ink', 'react'],
  });
  const { output } = await build.generate({
    dir: dist,
    entryFileNames: 'bundled.js',
    // What is loaded by few members, when it is needed.
    chunkFileNames: 'bundled-[name].js',
    format: 'esm',
    comments: false,
    sourcemap: true,
  });
  await build.close();
  // Maps come before the code that names them, and what is loaded before what loads it.
  const places = { asset: 0, chunk: 1 };
  const placeOf = (file) => (file.isEntry ? 2 : places[file.type]);
  for (const file of output.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const content = file.type === 'chunk' ? escaped(file.code) : file.source;
    await replace(file.fileName, content, readAt);
  }
}

/**
 * With one character outside of ASCII, V8 keeps two bytes for each character of a file's source: a
 * megabyte of a member's memory. All of them are in string literals.
 */
function escaped(code) {
  const escapeOf = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return code.replace(/[^\0-\x7f]/g, escapeOf);
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
