/**
 * What a release takes for granted: one version everywhere, changes described for packages that
 * there are, and in each published package what its page in a registry shows.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '../../../server/src/config/version.js';

const PACKAGES = ['protocol', 'console', 'server', 'client', 'cli'] as const;
const root = new URL('../../../', import.meta.url).pathname;
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');
const manifests = PACKAGES.map((folder) => JSON.parse(read(folder, 'package.json')));

it('all packages have the version that members tell each other', () => {
  const { version } = JSON.parse(read('package.json'));
  const folders = [...PACKAGES, 'bench', 'test', 'docs', 'release'];
  const others = folders.map((folder) => JSON.parse(read(folder, 'package.json')).version);
  expect(new Set(others)).toEqual(new Set([version]));
  expect(VERSION).toContain(`-rookery-${version},`);
});

it('each changeset names packages that exist and their bumps, and describes the change plainly', () => {
  const names = new Set(manifests.map(({ name }) => name));
  const files = readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md'));
  const faults = files.filter((file) => {
    const [, bumps = '', text = ''] =
      /^---\n(.*?)^---\n(.*)$/ms.exec(read('.changeset', file)) ?? [];
    const entries = Object.entries(parse(bumps) ?? {});
    const isKnown = entries.every(
      ([name, bump]) => names.has(name) && /^(?:patch|minor|major)$/.test(String(bump)),
    );
    const isPlain = !/\b(?:whoever|nobody|somebody|anew)\b/i.test(text);
    return entries.length === 0 || !isKnown || !isPlain || !/^- /.test(text.trim());
  });
  expect(faults).toEqual([]);
});

it('the changelog at the root gets each pending change once, under its first package', () => {
  const section = execFileSync('node', [join(root, 'scripts/release.mjs'), 'preview'], {
    encoding: 'utf8',
  });
  const parts = new Map(
    section.split(/^### /m).map((part) => [/`(.*?)`/.exec(part)?.[1], part] as const),
  );
  for (const file of readdirSync(join(root, '.changeset'))) {
    const [, first = '', text = ''] =
      /^---\n["']?([^"':]+).*?^---\n(.*)$/ms.exec(read('.changeset', file)) ?? [];
    if (!file.endsWith('.md')) continue;
    expect(section.split(text.trim()), file).toHaveLength(2);
    expect(parts.get(first), file).toContain(text.trim());
  }
});

it('the changelog at the root has the releases of the packages, the newest first', () => {
  const releases = [...read('CHANGELOG.md').matchAll(/^## (\S+) \((\S+)\)$/gm)];
  const { version } = JSON.parse(read('package.json'));
  expect(releases[0]?.[1]).toBe(version);
  const dates = releases.map(([, , date = '']) => date);
  expect(dates).toEqual([...dates].sort().reverse());
});

it.each(PACKAGES.map((folder) => [folder]))(
  '%s has what its page in a registry shows',
  (folder) => {
    const { name, description, keywords, license, files } = JSON.parse(
      read(folder, 'package.json'),
    );
    expect(read(folder, 'LICENSE')).toBe(read('LICENSE'));
    expect(license).toBe('Apache-2.0');
    expect(read(folder, 'README.md').split('\n')[0]).toBe(`# ${name}`);
    expect(read(folder, 'CHANGELOG.md')).toMatch(new RegExp(`^# Changes of ${name}\n\n## \\d`));
    expect(files).toContain('CHANGELOG.md');
    expect(description).toMatch(/^\S.{20,}/);
    expect(keywords.length).toBeGreaterThan(3);
  },
);
