/**
 * Checks the message of a commit against STYLE.md, "Commits":
 *
 *   node scripts/commit-message.mjs FILE
 *
 * The hook scripts/hooks/commit-msg calls it; CONTRIBUTING.md says how to set that up. Exit code 1
 * refuses the commit, and standard error lists each fault and how to correct it. Merges, and
 * commits that `git rebase --autosquash` will fold into another one, are accepted as they are.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SUBJECT_LENGTH_MAX = 72;
const MADE_BY_GIT = /^(?:Merge |(?:fixup|squash|amend)! )/;
/** The areas that a subject may begin with, such as `storage: ` or `zab, driver: `. */
const AREAS = /^[a-z][a-z0-9./-]*(?:, [a-z][a-z0-9./-]*)*: /;
const TRAILER = /^[A-Z][A-Za-z-]+: \S/;
/** Git writes the diff below this line for `git commit --verbose`. */
const SCISSORS = /^# -+ >8 -+$/m;
/** Verbs that look like a past or a progressive form and are neither. */
const IMPERATIVES = new Set([
  ...['bed', 'breed', 'embed', 'exceed', 'feed', 'heed', 'need', 'proceed', 'seed', 'shed'],
  ...['speed', 'succeed', 'bring', 'ping', 'ring', 'string', 'swing', 'wring'],
]);
/** Words that begin a statement rather than a command. */
const NO_VERBS = new Set([
  ...['a', 'an', 'the', 'this', 'that', 'these', 'those', 'it', 'its', 'each', 'every', 'all'],
  ...['some', 'no', 'two', 'three', 'i', 'we', 'now', 'there', 'what', 'when', 'where', 'which'],
]);

if (process.argv[1] === fileURLToPath(import.meta.url)) judge(process.argv[2]);

function judge(file) {
  if (file === undefined) {
    console.error('usage: node scripts/commit-message.mjs FILE');
    process.exitCode = 2;
    return;
  }
  const faults = faultsOf(readFileSync(file, 'utf8'));
  for (const fault of faults) console.error(`commit message: ${fault}`);
  if (faults.length > 0) {
    console.error('STYLE.md, "Commits", has examples. The message is kept in .git/COMMIT_EDITMSG.');
    process.exitCode = 1;
  }
}

/** Returns one sentence for each fault of the message, none for a good one. */
export function faultsOf(message) {
  const [text = ''] = message.split(SCISSORS);
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  while (lines.length > 0 && lines[0].trim() === '') lines.shift();
  const [subject = '', second = '', ...rest] = lines;
  // Git itself refuses an empty message.
  if (subject === '' || MADE_BY_GIT.test(subject)) return [];
  const body = rest.filter((line) => line.trim() !== '' && !TRAILER.test(line));
  const faults = subjectFaultsOf(subject);
  if (second.trim() !== '') faults.push('leave the second line empty, between subject and body.');
  if (body.length === 0) {
    faults.push('there is no body. Say why the change is made, and how it was checked.');
  }
  return faults;
}

function subjectFaultsOf(subject) {
  const faults = [];
  const length = [...subject].length;
  if (length > SUBJECT_LENGTH_MAX) {
    faults.push(`the subject has ${length} characters; shorten it to ${SUBJECT_LENGTH_MAX}.`);
  }
  if (subject.endsWith('.')) faults.push('remove the period at the end of the subject.');
  const [word = ''] = `${subject} `.replace(AREAS, '').split(/[\s,:]/, 1);
  const verb = word.toLowerCase();
  const isVerb = !NO_VERBS.has(verb) && (IMPERATIVES.has(verb) || !/(?:ed|ing)$/.test(verb));
  if (!/^[a-z]/.test(verb) || !isVerb) {
    faults.push(`"${word}" is not in the imperative mood; begin as "repair" or "add" does.`);
  }
  return faults;
}
