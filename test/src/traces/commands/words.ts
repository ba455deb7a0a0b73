/** Parses the words of a command: members, zxids, `key=value` settings. */
import { assert, makeZxid, type PeerId, type Proposal, type Zxid } from '@rookery/protocol';
import type { Session } from '../session.js';
import { bytesOf } from '../tree.js';

export function memberIn(session: Session, word: string | undefined): PeerId {
  const id = Number(word);
  assert(session.ensemble.members.has(id), `not a member: ${word}`);
  return id;
}

/** `all`, or a list of members. */
export function membersIn(session: Session, words: readonly string[]): readonly PeerId[] {
  if (words.length === 1 && words[0] === 'all') return [...session.ensemble.members.keys()];
  return words.map((word) => memberIn(session, word));
}

/** `all`, or exactly two members. */
export function pairsIn(
  session: Session,
  words: readonly string[],
): readonly (readonly [PeerId, PeerId])[] {
  if (words[0] !== 'all') return [[memberIn(session, words[0]), memberIn(session, words[1])]];
  const ids = membersIn(session, ['all']);
  return ids.flatMap((a) => ids.filter((b) => a < b).map((b) => [a, b] as const));
}

/** `all` means everything, nothing means one. */
export function countIn(word: string | undefined): number {
  if (word === 'all') return Number.POSITIVE_INFINITY;
  const count = Number(word ?? 1);
  assert(Number.isInteger(count) && count > 0, `not a count: ${word}`);
  return count;
}

/** `e1:4`, or `0`. */
export function zxidIn(word: string | undefined): Zxid {
  if (word === '0') return 0;
  const match = /^e(\d+):(\d+)$/.exec(word ?? '');
  assert(match !== null, `not a zxid: ${word}`);
  return makeZxid(Number(match[1]), Number(match[2]));
}

/** `e1:1..3,e2:1` are the proposals of a log that starts after `base`. */
export function logIn(text: string, base: Zxid): readonly Proposal[] {
  const proposals: Proposal[] = [];
  let previous = base;
  for (const part of text.split(',')) {
    const match = /^e(\d+):(\d+)(?:\.\.(\d+))?$/.exec(part);
    assert(match !== null, `not a range of zxids: ${part}`);
    const [, epoch, first, last] = match;
    for (let counter = Number(first); counter <= Number(last ?? first); counter += 1) {
      const zxid = makeZxid(Number(epoch), counter);
      proposals.push({ zxid, previous, body: bytesOf(`e${epoch}:${counter}`) });
      previous = zxid;
    }
  }
  return proposals;
}

/** Returns the value of `key=value` among the words, or null. */
export function settingIn(words: readonly string[], key: string): string | null {
  const found = words.find((word) => word.startsWith(`${key}=`));
  return found === undefined ? null : found.slice(key.length + 1);
}
