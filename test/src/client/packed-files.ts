/**
 * What a tarball of npm's holds, and whether that is what a package should hold. Used by
 * packed.test.ts.
 *
 * A module belongs in it when imports, types included, lead to it from what package.json exports.
 * What the build left of a source that is gone is no fault of the package.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';

/** The declarations once more, which scripts/commonjs.mjs copies. */
const COPIES = 'dist/commonjs/';

const run = promisify(execFile);
const IMPORT = /\b(?:from|import|new URL)\s*\(?\s*'(\.[^']*)'/g;

/** Paths in the package, without the `package/` that npm puts before them. */
export async function packedFiles(tarball: string): Promise<string[]> {
  const { stdout } = await run('tar', ['-tzf', tarball]);
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}

/** Modules of the tarball that nothing leads to from the package's exports. */
export function leftovers(directory: string, files: readonly string[]): string[] {
  const reached = reachedModules(directory);
  return files.filter((file) => {
    const module = /^(?:dist|src)\/(.*?)(?:\.d)?\.[jt]s(?:\.map)?$/.exec(file)?.[1];
    if (module === undefined) return false;
    return !reached.has(module) && existsSync(join(directory, 'src', `${module}.ts`));
  });
}

/** What package.json exports, or a source map points at, that is not in the tarball. */
export function unresolvedExports(directory: string, files: readonly string[]): string[] {
  const present = new Set(files);
  const mapped = files
    .filter((file) => file.endsWith('.map'))
    .flatMap((file) => {
      const { sources } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
      return (sources as string[]).map((source) => posix.join(dirname(file), source));
    })
    .filter((source) => existsSync(join(directory, source)));
  return [...exported(directory), ...mapped].filter((file) => !present.has(file));
}

function reachedModules(directory: string): Set<string> {
  const reached = new Set<string>();
  const pending = exported(directory)
    .filter((file) => !file.startsWith(COPIES))
    .map(moduleOf);
  for (let module = pending.pop(); module !== undefined; module = pending.pop()) {
    if (reached.has(module)) continue;
    reached.add(module);
    const source = readFileSync(join(directory, 'src', `${module}.ts`), 'utf8');
    for (const [, path = ''] of source.matchAll(IMPORT)) {
      pending.push(moduleOf(posix.join('dist', dirname(module), path)));
    }
  }
  return reached;
}

function moduleOf(file: string): string {
  return file.replace(/^dist\//, '').replace(/(?:\.d)?\.c?[jt]s$/, '');
}

/** Every module that package.json names, by whichever key, relative to the package. */
function exported(directory: string): string[] {
  const text = readFileSync(join(directory, 'package.json'), 'utf8');
  const { exports, main, types, typesVersions } = JSON.parse(text);
  return stringsIn([exports, main ?? [], types ?? [], typesVersions ?? []])
    .filter((path) => path !== './package.json')
    .map((path) => path.slice(2));
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Object.values(value ?? {}).flatMap(stringsIn);
}
