import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '@rookery/server';
import { expect, it, onTestFinished } from 'vitest';
import { Contexts } from './contexts.js';

it('a context that cannot be written leaves the former one, and nothing half-written', async () => {
  const home = await mkdtemp(join(tmpdir(), 'rookery-contexts-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const contexts = new Contexts({ XDG_CONFIG_HOME: home });
  contexts.save('prod', { connect: 'one:2181', auth: ['digest:me:secret'] });
  contexts.select('prod');
  const folder = join(home, 'rookery', 'context');
  expect(statSync(join(folder, 'prod.json')).mode & 0o777).toBe(0o600);
  // A folder in the place of the new file stands for a disk without room.
  const inTheWay = join(folder, 'prod.json.new');
  mkdirSync(inTheWay);
  const save = () => contexts.save('prod', { connect: 'two:2181', auth: [] });
  expect(save).toThrow(OperatorError);
  expect(save).toThrow(/prod\.json cannot be written: /);
  expect(contexts.load('prod')).toMatchObject({ connect: 'one:2181' });
  rmSync(inTheWay, { recursive: true });
  save();
  expect(contexts.load(contexts.selected() ?? '')).toMatchObject({ connect: 'two:2181' });
  expect(readdirSync(folder)).toEqual(['prod.json']);
});

it('saving a context keeps its symbolic link, and removing one keeps the file behind the link', async () => {
  const home = await mkdtemp(join(tmpdir(), 'rookery-contexts-'));
  onTestFinished(() => rm(home, { recursive: true }));
  const contexts = new Contexts({ XDG_CONFIG_HOME: home });
  const dotfiles = join(home, 'dotfiles');
  const folder = join(home, 'rookery', 'context');
  for (const directory of [dotfiles, folder]) mkdirSync(directory, { recursive: true });
  const link = join(folder, 'prod.json');
  const file = join(dotfiles, 'prod.json');
  // The first link leads to another one, which leads to the file.
  symlinkSync(join('..', '..', 'dotfiles', 'here.json'), link);
  symlinkSync('prod.json', join(dotfiles, 'here.json'));
  for (const connect of ['one:2181', 'two:2181']) {
    contexts.save('prod', { connect, auth: ['digest:me:secret'] });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ connect });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(contexts.load('prod')).toMatchObject({ connect });
  }
  expect(readdirSync(folder)).toEqual(['prod.json']);
  expect(readdirSync(dotfiles).sort()).toEqual(['here.json', 'prod.json']);
  contexts.remove('prod');
  expect(readdirSync(folder)).toEqual([]);
  expect(readdirSync(dotfiles).sort()).toEqual(['here.json', 'prod.json']);
  symlinkSync('prod.json', link);
  expect(() => contexts.save('prod', { connect: 'one:2181', auth: [] })).toThrow(OperatorError);
});
