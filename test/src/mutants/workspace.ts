/**
 * A private copy of everything from which the simulator is built, in which mutants are made and
 * run.
 *
 * The copy has the sources, builds and settings of the packages, and a node_modules whose
 * `@rookery/*` lead into the copy and whose other entries lead to the repository's. The repository
 * itself is never written to. One mutant is in a workspace at a time; several workspaces do not
 * know of each other. main.ts, the sample in CI and the tests of the named bugs call it.
 */
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from './command.js';
import { newCopy, removeLeftovers } from './copies.js';
import type { Mutant } from './mutant.js';
import { Sources } from './sources.js';

/** The repository, from test/src/mutants as well as from test/dist/mutants. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** What the simulator runs, and what that imports. */
const PACKAGES = ['protocol', 'server', 'client', 'test'] as const;
const COPIED = ['package.json', 'tsconfig.json', 'src', 'dist'] as const;
const BUILD_DEADLINE_MS = 180_000;
const COPY_DEADLINE_MS = 120_000;

export class Workspace {
  readonly folder: string;
  /** What is changed at present: each file with its original text. */
  readonly #originals = new Map<string, string>();

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The repository must be built (`tsc -b`). Leftovers of runs that were killed are removed. */
  static async create(): Promise<Workspace> {
    removeLeftovers();
    const folder = newCopy();
    await cp(join(ROOT, 'tsconfig.base.json'), join(folder, 'tsconfig.base.json'));
    await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
    for (const name of PACKAGES) await copyPackage(name, folder);
    await linkModules(folder);
    return new Workspace(folder);
  }

  /** Makes the mutant and builds it; throws if it does not fit or does not compile. */
  async apply(mutant: Mutant): Promise<void> {
    await this.#restoreSources();
    for (const [file, text] of Sources.read(this.folder).mutated(mutant)) {
      const path = join(this.folder, file);
      this.#originals.set(path, await readFile(path, 'utf8'));
      await writeFile(path, text);
    }
    await this.#build(mutant.name);
  }

  /** Restores the repository's state. */
  async restore(): Promise<void> {
    if (this.#originals.size === 0) return;
    await this.#restoreSources();
    await this.#build('the original');
  }

  /** Runs `node <args>` in the copy; programs are named from its root: `test/dist/...`. */
  run(args: readonly string[], options: { readonly deadlineMs: number }): Promise<CommandResult> {
    return runCommand([process.execPath, ...args], { cwd: this.folder, ...options });
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #restoreSources(): Promise<void> {
    for (const [path, text] of this.#originals) await writeFile(path, text);
    this.#originals.clear();
  }

  async #build(what: string): Promise<void> {
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    const args = [compiler, '-b', 'server'];
    const { code, stdout, stderr } = await this.run(args, { deadlineMs: BUILD_DEADLINE_MS });
    if (code !== 0) throw new Error(`${what} does not compile:\n${stdout}${stderr}`);
  }
}

async function copyPackage(name: string, folder: string): Promise<void> {
  const copy = join(folder, name);
  await mkdir(copy);
  const sources = COPIED.map((part) => join(ROOT, name, part));
  // Node's own `cp` takes twice the processor time for these thousands of files. It runs in the
  // copy, as all programs do that write there, so whoever looks for them finds it.
  const options = { cwd: copy, deadlineMs: COPY_DEADLINE_MS };
  const { code, stderr } = await runCommand(['cp', '-Rp', ...sources, '.'], options);
  if (code !== 0) throw new Error(`${name} cannot be copied:\n${stderr}`);
}

async function linkModules(folder: string): Promise<void> {
  const modules = join(ROOT, 'node_modules');
  await mkdir(join(folder, 'node_modules/@rookery'), { recursive: true });
  for (const entry of await readdir(modules)) {
    if (entry === '@rookery') continue;
    await symlink(join(modules, entry), join(folder, 'node_modules', entry));
  }
  for (const name of PACKAGES) {
    await symlink(join(folder, name), join(folder, 'node_modules/@rookery', name));
  }
}
