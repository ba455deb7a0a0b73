/**
 * Writes the client for tools that load CommonJS alone, above all Jest: `dist/index.cjs`,
 * `dist/testing/index.cjs`, and `dist/shared.cjs` with what both need. `npm pack` runs it first.
 *
 * Node itself never loads them: under its condition `module-sync`, `require` gives the same modules
 * as `import`, so a process has each class once. The protocol is inside, because its own package is
 * of ES modules only. Each file is there whole or not at all.
 *
 * For TypeScript a CommonJS program must not import the declarations of an ES module either (with
 * `moduleResolution: node16`). So `dist/commonjs/` has those of the client and of the protocol once
 * more, with a package.json that says of which kind they are.
 *
 *   node scripts/commonjs.mjs
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'client/dist');
/** What declarations import: by `from`, by `import` alone, or as a type in between. */
const IMPORTED = /\b(from|import)(\s*\(?\s*)(?:'([^']+)'|"([^"]+)")/g;
const PROTOCOL = '@rookery/protocol';

await writePrograms();
await writeDeclarations();

async function writePrograms() {
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
}

/** Copies the declarations that the two entries lead to. */
async function writeDeclarations() {
  const target = join(dist, 'commonjs');
  const pending = ['client/index.js', 'client/testing/index.js'];
  const seen = new Set(pending);
  for (let module = pending.pop(); module !== undefined; module = pending.pop()) {
    const [name, ...path] = module.replace(/\.js$/, '.d.ts').split('/');
    const text = await readFile(join(root, name, 'dist', ...path), 'utf8');
    const copy = text.replace(IMPORTED, (all, word, space, single, double) => {
      const imported = moduleOf(module, single ?? double);
      if (imported === null) return all;
      if (!seen.has(imported)) pending.push(imported);
      seen.add(imported);
      const relative = posix.relative(posix.dirname(module), imported);
      return `${word}${space}'${relative.startsWith('.') ? relative : `./${relative}`}'`;
    });
    await replace(join(target, name, ...path), copy);
  }
  await replace(join(target, 'package.json'), '{ "type": "commonjs" }\n');
}

/** As `client/…js` or `protocol/…js`; null for what is neither. */
function moduleOf(importer, specifier) {
  if (specifier === PROTOCOL) return 'protocol/index.js';
  if (!specifier.startsWith('.')) return null;
  return posix.join(posix.dirname(importer), specifier);
}

async function replace(path, content) {
  const whole = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(whole, content);
    await rename(whole, path);
  } finally {
    await rm(whole, { force: true });
  }
}
