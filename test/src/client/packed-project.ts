/**
 * An empty project of a user's, outside of the repository, in which what `npm pack` makes of our
 * packages is installed, with tools that users have. Used by the packed*.test.ts, one per file.
 *
 * Our packages' own dependencies, and the tools, come from npm's cache or registry. Without either
 * the tests that need them are skipped and say so; not in continuous integration
 * (ROOKERY_REQUIRE_FOREIGN=1).
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, type TestContext } from 'vitest';
import { REPOSITORY } from '../harness/product.js';
import { isRegistryUnreachable, type Outcome, runCommand } from './run-command.js';

export const LIBRARIES = ['protocol', 'client', 'server'] as const;
/** The server needs the console, whose files it serves. */
export const PACKAGES = [...LIBRARIES, 'console', 'cli'] as const;
export type PackageName = (typeof PACKAGES)[number];

const FIXTURES = fileURLToPath(new URL('./fixtures/packed/', import.meta.url));
const SETUP_DEADLINE_MS = 900_000;
const INSTALL_DEADLINE_MS = 800_000;
/** Tools are many thousands of files. */
const REMOVAL_DEADLINE_MS = 300_000;
const PACK_DEADLINE_MS = 60_000;
const PROGRAM_DEADLINE_MS = 120_000;
const FLAGS = [
  ...['--prefer-offline', '--no-audit', '--no-fund'],
  ...['--fetch-retries=1', '--fetch-retry-mintimeout=1000'],
];

/** Packs and installs before the tests of a file, and removes everything after them. */
export function packedProject(
  packages: readonly PackageName[],
  tools: readonly string[],
): PackedProject {
  const project = new PackedProject();
  beforeAll(() => project.install(packages, tools), SETUP_DEADLINE_MS);
  afterAll(() => rm(project.directory, { recursive: true, force: true }), REMOVAL_DEADLINE_MS);
  return project;
}

export class PackedProject {
  /** No node_modules of ours lies above it. */
  readonly directory = mkdtempSync(join(tmpdir(), 'rookery-user-'));
  readonly #tarballs = new Map<PackageName, string>();
  #installation: Outcome | null = null;

  async install(packages: readonly PackageName[], tools: readonly string[]): Promise<void> {
    const packs = this.path('packs');
    mkdirSync(packs);
    for (const name of packages) this.#tarballs.set(name, join(packs, await pack(name, packs)));
    this.write('package.json', '{ "private": true, "type": "module" }\n');
    const args = ['install', ...FLAGS, ...this.#tarballs.values(), ...tools];
    this.#installation = await this.run('npm', args, INSTALL_DEADLINE_MS);
    // As `npm install --save-dev @types/node` would, of which we have one.
    mkdirSync(this.path('node_modules/@types'), { recursive: true });
    const types = 'node_modules/@types/node';
    rmSync(this.path(types), { recursive: true, force: true });
    symlinkSync(join(REPOSITORY, types), this.path(types));
  }

  /** Skips the test, saying why, when what it needs could not be had. */
  need({ skip }: TestContext): void {
    const installation = this.#installation;
    if (installation === null) throw new Error('not installed');
    if (installation.code === 0) return;
    const isRequired = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';
    if (!isRequired && isRegistryUnreachable(installation)) {
      skip('npm reaches no registry, and has not all dependencies in its cache');
    }
    throw new Error(`npm install: ${installation.stderr}`);
  }

  tarball(name: PackageName): string {
    const file = this.#tarballs.get(name);
    if (file === undefined) throw new Error(`${name} is not packed`);
    return file;
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  /** Copies a program of fixtures/packed/. */
  use(name: string): void {
    copyFileSync(join(FIXTURES, name), this.path(name));
  }

  run(file: string, args: readonly string[], deadlineMs = PROGRAM_DEADLINE_MS): Promise<Outcome> {
    return runCommand(file, args, { cwd: this.directory, deadlineMs });
  }

  node(...args: readonly string[]): Promise<Outcome> {
    return this.run(process.execPath, args);
  }
}

async function pack(name: PackageName, destination: string): Promise<string> {
  const args = ['pack', '--silent', '--pack-destination', destination];
  const options = { cwd: join(REPOSITORY, name), deadlineMs: PACK_DEADLINE_MS };
  const { code, stdout, stderr } = await runCommand('npm', args, options);
  if (code !== 0) throw new Error(`npm pack ${name}: ${stderr}`);
  // What `prepack` prints comes before it.
  return stdout.trim().split('\n').at(-1) ?? '';
}
