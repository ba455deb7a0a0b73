/**
 * What a release consists of, apart from a person's decisions (CONTRIBUTING.md, "Releases"):
 *
 *   node scripts/release.mjs preview          prints the changes that wait for the next release
 *   node scripts/release.mjs version          raises versions, writes changelogs
 *   node scripts/release.mjs pack DIRECTORY   writes what is published
 *
 * `version` lets changesets turn what is in .changeset/ into new versions and entries of each
 * package's CHANGELOG.md, adds the same changes to the one at the root, and carries the version to
 * where changesets does not know it. `pack` writes into the directory, which it makes, a tarball of
 * each package, for each a list of all software that comes with it (SBOM, CycloneDX), and
 * SHA256SUMS of all of these. None of them publishes anything.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Each after those that it needs, as they are published. */
const PACKAGES = ['protocol', 'console', 'server', 'client', 'cli'];
/** The packages in the order of their headings in the root CHANGELOG.md. */
const HEADINGS = [
  ['@rookery/server', 'Members'],
  ['rookery', 'Commands'],
  ['@rookery/client', 'Client library'],
  ['@rookery/console', 'Console'],
  ['@rookery/protocol', 'Protocol'],
];
const BUMPS = ['major', 'minor', 'patch'];
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

const [task, directory] = process.argv.slice(2);
if (task === 'preview') preview();
else if (task === 'version') raiseVersions();
else if (task === 'pack' && directory !== undefined) pack(resolve(directory));
else {
  console.error('usage: node scripts/release.mjs preview | version | pack DIRECTORY');
  process.exitCode = 2;
}

function preview() {
  const changesets = pendingChangesets();
  console.log(sectionOf({ version: 'Next release', date: 'not released', changesets }));
}

function raiseVersions() {
  const changesets = pendingChangesets();
  run('npm', ['ci', '--prefix', 'release', ...QUIET], root);
  const before = versionOf('protocol');
  run('release/node_modules/.bin/changeset', ['version'], root);
  const version = versionOf('protocol');
  if (version === before) throw new Error('there is nothing to release: .changeset/ is empty');
  const today = new Date().toISOString().slice(0, 10);
  const section = sectionOf({ version, date: today, changesets });
  edit('CHANGELOG.md', /^.*$/s, (changelog) => withSection(changelog, section));
  const field = [/^ {2}"version": ".*"/m, `  "version": "${version}"`];
  for (const folder of ['.', 'docs', 'release']) edit(join(folder, 'package.json'), ...field);
  edit('README.md', /this is version [\d.]+/, `this is version ${version}`);
  edit('server/src/config/version.ts', /RELEASE = '.*'/, `RELEASE = '${version}'`);
  edit('server/src/config/version.ts', /RELEASED = '.*'/, `RELEASED = '${today} 00:00 UTC'`);
  for (const folder of ['.', 'docs', 'release']) {
    run('npm', ['install', '--package-lock-only', ...QUIET], join(root, folder));
  }
  run('npx', ['biome', 'check', '--write', '.'], root);
  console.log(`${version}: look at the changelogs, run all tests, and commit`);
}

/**
 * Returns the section of one release in the root CHANGELOG.md: a heading, then each change once,
 * under the package that its changeset names first.
 */
function sectionOf({ version, date, changesets }) {
  const parts = [`## ${version} (${date})`];
  for (const [name, heading] of HEADINGS) {
    const ofPackage = changesets
      .filter((one) => one.first === name)
      .sort((a, b) => BUMPS.indexOf(a.bump) - BUMPS.indexOf(b.bump));
    if (ofPackage.length === 0) continue;
    parts.push(`### ${heading} (\`${name}\`)`, ofPackage.map(({ text }) => text).join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}

/** Inserts the section before the newest release of the changelog. */
function withSection(changelog, section) {
  const at = changelog.indexOf('\n## ');
  if (at < 0) throw new Error('CHANGELOG.md has no release');
  return `${changelog.slice(0, at + 1)}${section}\n${changelog.slice(at + 1)}`;
}

/** Reads the pending changesets in the order of their names, before changesets consumes them. */
function pendingChangesets() {
  const folder = join(root, '.changeset');
  const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return files.sort().map((file) => {
    const [, head = '', text = ''] =
      /^---\n(.*?)^---\n(.*)$/ms.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
    const [, first, bump] = /^["']?([^"':]+)["']?: (\w+)/m.exec(head) ?? [];
    if (!HEADINGS.some(([name]) => name === first)) {
      throw new Error(`${file} names no package that CHANGELOG.md has a heading for`);
    }
    return { file, first, bump, text: text.trim() };
  });
}

function pack(target) {
  mkdirSync(target, { recursive: true });
  if (readdirSync(target).length > 0) throw new Error(`${target} is not empty`);
  // What an earlier build has left of a source that is gone must not be published.
  for (const name of PACKAGES) rmSync(join(root, name, 'dist'), { recursive: true, force: true });
  run('npm', ['run', 'build'], root);
  const tarballs = new Map();
  for (const name of PACKAGES) {
    const args = ['pack', '--silent', '--pack-destination', target];
    // What `prepack` prints comes before the name.
    const file = run('npm', args, join(root, name)).trim().split('\n').at(-1);
    tarballs.set(name, join(target, file));
    writeFileSync(`${join(target, file)}.cdx.json`, softwareIn(name, tarballs));
  }
  const sums = readdirSync(target).map((file) => {
    const hash = createHash('sha256').update(readFileSync(join(target, file)));
    return `${hash.digest('hex')}  ${file}\n`;
  });
  writeFileSync(join(target, 'SHA256SUMS'), sums.join(''));
  console.log(readdirSync(target).join('\n'));
}

/** The SBOM of a project that has installed the package, and nothing else, from its tarball. */
function softwareIn(name, tarballs) {
  const project = mkdtempSync(join(tmpdir(), 'rookery-sbom-'));
  try {
    const needed = ownNeededBy(name);
    const own = [...tarballs].filter(([other]) => needed.has(other));
    const about = { name: `${manifestOf(name).name}-installed`, version: versionOf(name) };
    writeFileSync(join(project, 'package.json'), JSON.stringify({ ...about, private: true }));
    const files = own.map(([, file]) => file);
    run('npm', ['install', '--ignore-scripts', ...QUIET, ...files], project);
    return run('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'], project);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** The package and those of ours that it needs, directly or not. */
function ownNeededBy(name, found = new Set()) {
  found.add(name);
  const { dependencies = {} } = manifestOf(name);
  for (const other of PACKAGES) {
    const isNeeded = dependencies[manifestOf(other).name] !== undefined;
    if (isNeeded && !found.has(other)) ownNeededBy(other, found);
  }
  return found;
}

function manifestOf(name) {
  return JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8'));
}

function versionOf(name) {
  return manifestOf(name).version;
}

/** Replaces the one place where the file says so. */
function edit(file, what, by) {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  if (!what.test(text)) throw new Error(`${file} has no ${what}`);
  writeFileSync(path, text.replace(what, by));
}

function run(command, args, cwd) {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
