/**
 * Goal: what `npm pack` makes of protocol, client and server can be imported by a user, and that of
 * cli runs. Method: the four tarballs are installed in an empty project outside of the repository,
 * and programs of a user's run there: an ES module, CommonJS, strict TypeScript, an ensemble in the
 * own process, the command.
 *
 * Our packages' own dependencies come from npm's cache or registry. Without either the tests that
 * need them are skipped and say so; not in continuous integration (ROOKERY_REQUIRE_FOREIGN=1).
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { REPOSITORY } from '../../harness/product.js';
import { leftovers, packedFiles, unresolvedExports } from '../packed-files.js';
import { isRegistryUnreachable, type Outcome, runCommand } from '../run-command.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const LIBRARIES = ['protocol', 'client', 'server'] as const;
const PACKAGES = [...LIBRARIES, 'cli'] as const;
const FIXTURES = fileURLToPath(new URL('../fixtures/packed/', import.meta.url));
const TYPESCRIPT = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
/** The oldest compiler that users may have; installed in their project. */
const OLD_TYPESCRIPT = 'typescript@5.4.5';
const ROLLDOWN = join(REPOSITORY, 'node_modules/rolldown/bin/cli.mjs');
const SETUP_DEADLINE_MS = 400_000;
const INSTALL_DEADLINE_MS = 300_000;
const PROGRAM_DEADLINE_MS = 120_000;
const RESOLUTIONS = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'esnext', moduleResolution: 'bundler' },
] as const;

const ensemble = sharedEnsemble();
const servers = () =>
  ensemble()
    .ports.map((port) => `127.0.0.1:${port}`)
    .join(',');

/** A directory that no node_modules of ours lies above. */
let project = '';
let installation: Outcome | null = null;
const tarballs = new Map<string, string>();

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'rookery-user-'));
  const packs = join(project, 'packs');
  mkdirSync(packs);
  for (const name of PACKAGES) tarballs.set(name, join(packs, await pack(name, packs)));
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  const flags = [
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=1000',
  ];
  installation = await run(
    'npm',
    ['install', ...flags, ...tarballs.values(), OLD_TYPESCRIPT],
    INSTALL_DEADLINE_MS,
  );
  // As `npm install --save-dev @types/node` would, of which we have one.
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  const types = 'node_modules/@types/node';
  symlinkSync(join(REPOSITORY, types), join(project, types));
}, SETUP_DEADLINE_MS);

afterAll(() => rmSync(project, { recursive: true, force: true }));

function run(
  file: string,
  args: readonly string[],
  deadlineMs = PROGRAM_DEADLINE_MS,
): Promise<Outcome> {
  return runCommand(file, args, { cwd: project, deadlineMs });
}

async function pack(name: string, destination: string): Promise<string> {
  const args = ['pack', '--silent', '--pack-destination', destination];
  const cwd = join(REPOSITORY, name);
  const { code, stdout, stderr } = await runCommand('npm', args, { cwd, deadlineMs: 60_000 });
  if (code !== 0) throw new Error(`npm pack ${name}: ${stderr}`);
  return stdout.trim();
}

function tarball(name: string): string {
  const file = tarballs.get(name);
  if (file === undefined) throw new Error(`${name} is not packed`);
  return file;
}

/** Skips the test, saying why, when what it needs could not be had. */
function needInstallation({ skip }: TestContext): void {
  if (installation === null) throw new Error('not installed');
  if (installation.code === 0) return;
  const isRequired = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';
  if (!isRequired && isRegistryUnreachable(installation)) {
    skip('npm reaches no registry, and has not all dependencies in its cache');
  }
  throw new Error(`npm install: ${installation.stderr}`);
}

function useProgram(name: string): void {
  copyFileSync(join(FIXTURES, name), join(project, name));
}

describe.each(LIBRARIES)('the tarball of %s', (name) => {
  it('holds nothing but what its exports reach: no tests, no fakes, no build state', async () => {
    const files = await packedFiles(tarball(name));
    expect(files).toContain('package.json');
    expect(files.filter((file) => /\.test\.|\.tsbuildinfo$|fixtures/.test(file))).toEqual([]);
    expect(leftovers(join(REPOSITORY, name), files)).toEqual([]);
  });

  it('has every file that its package.json and its source maps name', async () => {
    const files = await packedFiles(tarball(name));
    expect(unresolvedExports(join(REPOSITORY, name), files)).toEqual([]);
  });
});

it('the client comes with its README and its examples', async () => {
  const files = await packedFiles(tarball('client'));
  const documents = ['README.md', 'LICENSE', 'CHANGELOG.md', 'examples/lock.js'];
  expect(files).toEqual(expect.arrayContaining(documents));
});

it('what is installed is what was packed, not this workspace', (context) => {
  needInstallation(context);
  for (const name of [...LIBRARIES.map((library) => `@rookery/${library}`), 'rookery']) {
    const installed = realpathSync(join(project, 'node_modules', name));
    expect(installed).toBe(join(realpathSync(project), 'node_modules', name));
  }
});

it('the command runs from its modules: the bundle is for checkouts', async (context) => {
  expect((await packedFiles(tarball('cli'))).filter((file) => /bundled|test/.test(file))).toEqual(
    [],
  );
  needInstallation(context);
  const rookery = 'node_modules/rookery/dist/main.js';
  const asked = await run(process.execPath, [rookery, '--version']);
  expect(asked).toMatchObject({ code: 0, stdout: '0.2.0\n', stderr: '' });
  const args = [rookery, 'server', '--config', 'nowhere.json', '--id', '1'];
  const refused = await run(process.execPath, args);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('nowhere.json');
});

it.for(['lock-esm.mjs', 'lock-commonjs.cjs'])(
  '%s connects and takes a lock',
  async (name, context) => {
    needInstallation(context);
    useProgram(name);
    const outcome = await run(process.execPath, [name, servers()]);
    expect(outcome).toEqual({ code: 0, stdout: 'held true bigint\n', stderr: '' });
  },
);

it('a bundled program says what `worker` needs, and works with it', async (context) => {
  needInstallation(context);
  useProgram('worker-bundled.mjs');
  const bundled = async (entry: string, file: string) => {
    const args = [ROLLDOWN, entry, '--platform', 'node', '--format', 'esm', '--file', file];
    expect((await run(process.execPath, args)).code).toBe(0);
  };
  await bundled('worker-bundled.mjs', 'bundle/program.mjs');
  const refused = await run(process.execPath, ['bundle/program.mjs', servers()]);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/OptionError: option worker has no thread at file:.*bundle/);
  await bundled('node_modules/@rookery/client/dist/worker/thread.js', 'bundle/thread.mjs');
  const outcome = await run(process.execPath, ['bundle/program.mjs', servers(), './thread.mjs']);
  expect(outcome).toEqual({ code: 0, stdout: 'connected\n', stderr: '' });
});

it.for(RESOLUTIONS)(
  'a strict TypeScript program is checked, $moduleResolution resolution, and takes a lock',
  async (resolution, context) => {
    needInstallation(context);
    useProgram('lock-typed.ts');
    const outDir = `out-${resolution.moduleResolution}`;
    const compilerOptions = {
      ...{ ...resolution, outDir, target: 'es2022', lib: ['es2022', 'esnext.disposable'] },
      ...{ strict: true, skipLibCheck: false, types: ['node'], exactOptionalPropertyTypes: true },
    };
    const config = { compilerOptions, files: ['lock-typed.ts'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    const compiled = await run(process.execPath, [TYPESCRIPT, '-p', '.']);
    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
    const outcome = await run(process.execPath, [join(outDir, 'lock-typed.js'), servers(), outDir]);
    expect(outcome.stderr).toBe('');
    expect(outcome.stdout).toBe(`held true bigint\nexists -110 false\nwatched /packed/${outDir}\n`);
  },
);

it.for([
  { module: 'commonjs', moduleResolution: 'node10' },
  { module: 'node16', moduleResolution: 'node16' },
])(
  'TypeScript 5.4 checks a strict program and all declarations, $moduleResolution resolution',
  async (resolution, context) => {
    needInstallation(context);
    useProgram('lock-typed.ts');
    writeFileSync(
      join(project, 'subpaths.ts'),
      "import { FakeClient } from '@rookery/client/testing';\nexport const zk = new FakeClient();\n",
    );
    const compilerOptions = {
      ...{ ...resolution, noEmit: true, target: 'es2022', lib: ['es2022', 'esnext.disposable'] },
      ...{ strict: true, skipLibCheck: false, types: ['node'], exactOptionalPropertyTypes: true },
    };
    // CommonJS has no await outside of functions.
    const files =
      resolution.module === 'commonjs' ? ['subpaths.ts'] : ['lock-typed.ts', 'subpaths.ts'];
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const compiled = await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']);
    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
  },
);

it('a program that only connects is bundled into less than 100 KB', async (context) => {
  needInstallation(context);
  writeFileSync(join(project, 'connects.mjs'), "export { connect } from '@rookery/client';\n");
  const file = 'bundle/connects.mjs';
  const args = [ROLLDOWN, 'connects.mjs', '--platform', 'node', '--format', 'esm', '--minify'];
  expect((await run(process.execPath, [...args, '--file', file])).code).toBe(0);
  expect(readFileSync(join(project, file)).length).toBeLessThan(100_000);
});

it('unit tests of a user run with a fake client, faults and time by hand', async (context) => {
  needInstallation(context);
  useProgram('own-fakes.mjs');
  const outcome = await run(process.execPath, ['own-fakes.mjs']);
  expect(outcome).toEqual({ code: 0, stdout: 'false true true\n1 true\n', stderr: '' });
});

it('the first example of its README runs as printed, by whoever has only that', async (context) => {
  needInstallation(context);
  const readme = readFileSync(join(project, 'node_modules/@rookery/client/README.md'), 'utf8');
  const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(readme) ?? [];
  const printed = '127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183/';
  expect(code).toContain(printed);
  writeFileSync(join(project, 'first.mjs'), code.replace(printed, `${servers()}/`));
  const outcome = await run(process.execPath, ['first.mjs']);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(outcome.stdout).toMatch(/^hello \d+n\nthe only one who works here true \d+n\n$/);
});

it('an example runs from where npm has put it', async (context) => {
  needInstallation(context);
  const example = 'node_modules/@rookery/client/examples/configuration.js';
  const outcome = await run(process.execPath, [example, servers(), 'set', '{"packed":true}']);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
});

it('a user starts an ensemble in their own process', async (context) => {
  needInstallation(context);
  useProgram('own-ensemble.mjs');
  const outcome = await run(process.execPath, ['own-ensemble.mjs']);
  expect(outcome).toEqual({ code: 0, stdout: 'held true\n', stderr: '' });
});
