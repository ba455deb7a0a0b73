/**
 * A user can import what `npm pack` makes of protocol, client and server, and run the command with
 * the console. The tarballs are installed in an empty project outside of the repository, and
 * programs as a user writes them run there: an ES module, CommonJS, strict TypeScript, an ensemble
 * in the own process, and the command.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY } from '../../harness/product.js';
import { leftovers, packedFiles, unresolvedExports } from '../packed-files.js';
import { LIBRARIES, PACKAGES, packedProject } from '../packed-project.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const TYPESCRIPT = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
/** The oldest compiler that users may have; installed in their project. */
const OLD_TYPESCRIPT = 'typescript@5.4.5';
const ROLLDOWN = join(REPOSITORY, 'node_modules/rolldown/bin/cli.mjs');
const RESOLUTIONS = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'esnext', moduleResolution: 'bundler' },
] as const;

const ensemble = sharedEnsemble();
const servers = () =>
  ensemble()
    .ports.map((port) => `127.0.0.1:${port}`)
    .join(',');

const project = packedProject(PACKAGES, [OLD_TYPESCRIPT]);

describe.each(LIBRARIES)('the tarball of %s', (name) => {
  it('holds nothing but what its exports reach: no tests, no fakes, no build state', async () => {
    const files = await packedFiles(project.tarball(name));
    expect(files).toContain('package.json');
    expect(files.filter((file) => /\.test\.|\.tsbuildinfo$|fixtures/.test(file))).toEqual([]);
    expect(leftovers(join(REPOSITORY, name), files)).toEqual([]);
  });

  it('has every file that its package.json and its source maps name', async () => {
    const files = await packedFiles(project.tarball(name));
    expect(unresolvedExports(join(REPOSITORY, name), files)).toEqual([]);
  });
});

it('the client comes with its README and its examples', async () => {
  const files = await packedFiles(project.tarball('client'));
  const documents = ['README.md', 'LICENSE', 'CHANGELOG.md', 'examples/lock.js'];
  expect(files).toEqual(expect.arrayContaining(documents));
});

it('what is installed is what was packed, not this workspace', (context) => {
  project.need(context);
  for (const name of [...LIBRARIES.map((library) => `@rookery/${library}`), 'rookery']) {
    const installed = realpathSync(project.path(`node_modules/${name}`));
    expect(installed).toBe(join(realpathSync(project.directory), 'node_modules', name));
  }
});

it('the command runs from its modules: the bundle is for checkouts', async (context) => {
  expect(
    (await packedFiles(project.tarball('cli'))).filter((file) => /bundled|test/.test(file)),
  ).toEqual([]);
  project.need(context);
  const rookery = 'node_modules/rookery/dist/main.js';
  const asked = await project.node(rookery, '--version');
  expect(asked).toMatchObject({ code: 0, stdout: '0.2.0\n', stderr: '' });
  const args = [rookery, 'server', '--config', 'nowhere.json', '--id', '1'];
  const refused = await project.node(...args);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('nowhere.json');
});

it('a member serves the console that is installed with it', async (context) => {
  const files = await packedFiles(project.tarball('console'));
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'dist/web/index.html']));
  expect(files.filter((file) => /^src|\.map$|\.tsx?$/.test(file))).toEqual([]);
  project.need(context);
  const program = `import { readFileSync } from 'node:fs';
import { consoleDirectory } from '@rookery/server/http';
process.stdout.write(readFileSync(consoleDirectory() + '/index.html', 'utf8').slice(0, 15));
`;
  project.write('console.mjs', program);
  const outcome = await project.node('console.mjs');
  expect(outcome).toEqual({ code: 0, stdout: '<!doctype html>', stderr: '' });
});

it.for(['lock-esm.mjs', 'lock-commonjs.cjs'])(
  '%s connects and takes a lock',
  async (name, context) => {
    project.need(context);
    project.use(name);
    const outcome = await project.node(name, servers());
    expect(outcome).toEqual({ code: 0, stdout: 'held true bigint\n', stderr: '' });
  },
);

it('a bundled program says what `worker` needs, and works with it', async (context) => {
  project.need(context);
  project.use('worker-bundled.mjs');
  const bundled = async (entry: string, file: string) => {
    const args = [ROLLDOWN, entry, '--platform', 'node', '--format', 'esm', '--file', file];
    expect((await project.node(...args)).code).toBe(0);
  };
  await bundled('worker-bundled.mjs', 'bundle/program.mjs');
  const refused = await project.node('bundle/program.mjs', servers());
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/OptionError: option worker has no thread at file:.*bundle/);
  await bundled('node_modules/@rookery/client/dist/worker/thread.js', 'bundle/thread.mjs');
  const outcome = await project.node('bundle/program.mjs', servers(), './thread.mjs');
  expect(outcome).toEqual({ code: 0, stdout: 'connected\n', stderr: '' });
});

it.for(RESOLUTIONS)(
  'a strict TypeScript program is checked, $moduleResolution resolution, and takes a lock',
  async (resolution, context) => {
    project.need(context);
    project.use('lock-typed.ts');
    const outDir = `out-${resolution.moduleResolution}`;
    const compilerOptions = {
      ...resolution,
      outDir,
      target: 'es2022',
      lib: ['es2022', 'esnext.disposable'],
      strict: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
    };
    const config = { compilerOptions, files: ['lock-typed.ts'] };
    project.write('tsconfig.json', JSON.stringify(config));
    const compiled = await project.node(TYPESCRIPT, '-p', '.');
    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
    const outcome = await project.node(join(outDir, 'lock-typed.js'), servers(), outDir);
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
    project.need(context);
    project.use('lock-typed.ts');
    project.write(
      'subpaths.ts',
      "import { FakeClient } from '@rookery/client/testing';\nexport const zk = new FakeClient();\n",
    );
    const compilerOptions = {
      ...resolution,
      noEmit: true,
      target: 'es2022',
      lib: ['es2022', 'esnext.disposable'],
      strict: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
    };
    // CommonJS has no await outside of functions.
    const files =
      resolution.module === 'commonjs' ? ['subpaths.ts'] : ['lock-typed.ts', 'subpaths.ts'];
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
    const compiled = await project.node('node_modules/typescript/bin/tsc', '-p', '.');
    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
  },
);

it.for([
  ['TypeScript 5.4', 'node_modules/typescript/bin/tsc'],
  ['the newest TypeScript', TYPESCRIPT],
] as const)(
  '%s checks a strict CommonJS program, node16 resolution, and it takes a lock',
  async ([, compiler], context) => {
    project.need(context);
    project.use('lock-typed-commonjs.cts');
    const compilerOptions = {
      module: 'node16',
      moduleResolution: 'node16',
      target: 'es2022',
      outDir: 'out-commonjs',
      lib: ['es2022', 'esnext.disposable'],
      strict: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
    };
    const config = { compilerOptions, files: ['lock-typed-commonjs.cts'] };
    project.write('tsconfig.json', JSON.stringify(config));
    const compiled = await project.node(compiler, '-p', '.');
    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
    const outcome = await project.node('out-commonjs/lock-typed-commonjs.cjs', servers());
    const stdout = 'held true bigint\nheld true bigint\nmissing -101\n';
    expect(outcome).toEqual({ code: 0, stdout, stderr: '' });
  },
);

it('a program that only connects is bundled into less than 107 KB', async (context) => {
  project.need(context);
  project.write('connects.mjs', "export { connect } from '@rookery/client';\n");
  const file = 'bundle/connects.mjs';
  const args = [ROLLDOWN, 'connects.mjs', '--platform', 'node', '--format', 'esm', '--minify'];
  expect((await project.node(...args, '--file', file)).code).toBe(0);
  expect(readFileSync(project.path(file)).length).toBeLessThan(107 << 10);
});

it('unit tests of a user run with a fake client, faults and time by hand', async (context) => {
  project.need(context);
  project.use('own-fakes.mjs');
  const outcome = await project.node('own-fakes.mjs');
  expect(outcome).toEqual({ code: 0, stdout: 'false true true\n1 true\n', stderr: '' });
});

/** The first program of a page, at the servers of this test. */
function firstProgram(page: string): string {
  const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(page) ?? [];
  const printed = '127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183/';
  expect(code).toContain(printed);
  return code.replace(printed, `${servers()}/`);
}

it('the first example of its README runs as printed, by whoever has only that', async (context) => {
  project.need(context);
  const readme = readFileSync(project.path('node_modules/@rookery/client/README.md'), 'utf8');
  project.write('first.mjs', firstProgram(readme));
  const outcome = await project.node('first.mjs');
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(outcome.stdout).toMatch(/^hello \d+n\nthe only one who works here true \d+n\n$/);
});

it("the site's first page works as printed, in two processes at once", async (context) => {
  project.need(context);
  const page = readFileSync(join(REPOSITORY, 'docs/client/start.md'), 'utf8');
  project.write('worker.mjs', firstProgram(page));
  const both = await Promise.all([project.node('worker.mjs'), project.node('worker.mjs')]);
  const tokens = both.map(({ code, stdout, stderr }) => {
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return /^only this process works now; token (\d+)n\ndone\n$/.exec(stdout)?.[1];
  });
  expect(tokens).toEqual([expect.any(String), expect.any(String)]);
  expect(new Set(tokens).size).toBe(2);
});

it('an example runs from where npm has put it', async (context) => {
  project.need(context);
  const example = 'node_modules/@rookery/client/examples/configuration.js';
  const outcome = await project.node(example, servers(), 'set', '{"packed":true}');
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
});

it('a user starts an ensemble in their own process', async (context) => {
  project.need(context);
  project.use('own-ensemble.mjs');
  const outcome = await project.node('own-ensemble.mjs');
  expect(outcome).toEqual({ code: 0, stdout: 'held true\n', stderr: '' });
});
