/**
 * Writes the client for tools that load CommonJS alone, above all Jest: `dist/index.cjs`,
 * `dist/testing/index.cjs`, and `dist/shared.cjs` with what both need. `npm pack` runs it first.
 *
 * Node itself never loads them: under its condition `module-sync`, `require` gives the same modules
 * as `import`, so a process has each class once. The protocol is inside, because its own package is
 * of ES modules only. Each file is there whole or not at all.
 *
 *   node scripts/commonjs.mjs
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'client/dist');

const build = await rolldown({
  input: { index: join(dist, 'index.js'), 'testing/index': join(dist, 'testing/index.js') },
  platform: 'node',
  // CommonJS has no address of a module: there `worker` takes the URL of its thread, and says so.
  transform: { define: { 'import.meta': '{}' } },
});
const { output } = await build.generate({
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'shared.cjs',
  comments: false,
  minify: { compress: false, mangle: false, codegen: true },
});
await build.close();
for (const { fileName, code } of output) await replace(join(dist, fileName), code);

async function replace(path, content) {
  const whole = `${path}.${process.pid}`;
  try {
    await writeFile(whole, content);
    await rename(whole, path);
  } finally {
    await rm(whole, { force: true });
  }
}
