/**
 * The documents and the recorded answers name the four-letter words that exist, each as the table
 * in `server/src/config/four-letter-words.ts` has it. The table is in alphabetical order.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  FOUR_LETTER_WORDS,
  isForStrangers,
  isListing,
} from '../../../server/src/config/four-letter-words.js';
import { root } from '../tidy/source.js';

/**
 * The words without an answer recorded from ZooKeeper: that of stmk is the mask that was sent. A
 * word that ZooKeeper does not have belongs here, too.
 */
const NOT_RECORDED = ['stmk'];

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The names of four letters that the text shows as code, sorted. */
function wordsIn(text: string | undefined): string[] {
  return [...(text ?? '').matchAll(/`([a-z]{4})`/g)].map(([, word]) => word ?? '').sort();
}

it('the configuration reference says of each word whether strangers may send it', () => {
  const [, section] = read('docs/configuration.md').split('### fourLetterWords\n');
  const [, text] = section?.split('\n### ')[0]?.split('Elsewhere ') ?? [];
  const [mustBeNamed, others] = text?.split(' must be named') ?? [];
  expect(wordsIn(mustBeNamed)).toEqual(FOUR_LETTER_WORDS.filter((word) => !isForStrangers(word)));
  expect(wordsIn(others)).toEqual(FOUR_LETTER_WORDS.filter(isForStrangers));
});

it('docs/limits.md names the listings', () => {
  const [, listings] = /listings \(([^)]*)\)/.exec(read('docs/limits.md')) ?? [];
  expect(wordsIn(listings)).toEqual(FOUR_LETTER_WORDS.filter(isListing));
});

it('each word that is not in NOT_RECORDED has an answer recorded from ZooKeeper', () => {
  const recorded = Object.keys(JSON.parse(read('test/vectors/four-letter-words.json')));
  expect([...recorded, ...NOT_RECORDED].sort()).toEqual(FOUR_LETTER_WORDS);
});
