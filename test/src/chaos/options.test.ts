/**
 * Tests the arguments of a chaos run.
 */
import { expect, it } from 'vitest';
import { commandOf, parseOptions, UsageError } from './options.js';

const KNOWN = { nemeses: ['kill-one', 'loss'], workloads: ['register', 'set'] };
const parse = (...args: string[]) => parseOptions(args, KNOWN, () => 17);

it('without arguments, three members suffer everything for ten minutes', () => {
  expect(parse()).toEqual({
    minutes: 10,
    members: 3,
    nemeses: null,
    workloads: null,
    seed: 17,
    keep: null,
  });
});

it('the printed command runs the same again', () => {
  for (const args of [
    ['--minutes', '0.5', '--members', '5', '--seed', '4294967295'],
    ['--nemeses', 'loss,kill-one', '--workloads', 'set'],
  ]) {
    const options = parse(...args);
    if (options === 'list') throw new Error('no list was asked for');
    const again = commandOf(options).split(' ').slice(4);
    expect(commandOf(options)).toMatch(/^npm run chaos -- --/);
    expect(parse(...again)).toEqual(options);
  }
});

it('what makes no sense is refused by name', () => {
  const refused = [
    [['--minutes', '0'], '--minutes'],
    [['--minutes', 'ten'], '--minutes'],
    [['--members', '4'], '--members'],
    [['--members', '1'], '--members'],
    [['--seed', '4294967296'], '--seed'],
    [['--seed', '1.5'], '--seed'],
    [['--seed=-1'], '--seed'],
    [['--nemeses', 'kill-one,kill-two'], 'kill-two'],
    [['--nemeses', ''], '--nemeses'],
    [['--workloads', 'queue'], 'register, set'],
    [['--fast'], '--fast'],
    [['now'], 'now'],
  ] as const;
  for (const [args, named] of refused) {
    expect(() => parse(...args), args.join(' ')).toThrow(UsageError);
    expect(() => parse(...args), args.join(' ')).toThrow(named);
  }
});
