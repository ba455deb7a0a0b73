/**
 * What clients make a leader do: `propose ID a b c` proposes three writes in one turn; `confirm ID
 * N` asks question N, whether this member still leads; with `first-counter N` new epochs begin with
 * this counter.
 */
import type { Command } from '../session.js';
import { memberIn } from './words.js';

const propose: Command = (session, words) => {
  const id = memberIn(session, words[0]);
  if (!session.ensemble.propose(id, words.slice(1))) session.print('the counter is used up');
};

const confirm: Command = (session, words) => {
  session.ensemble.confirm(memberIn(session, words[0]), Number(words[1]));
};

const firstCounter: Command = (session, words) => {
  session.ensemble.firstCounter = Number(words[0]);
};

export const clientCommands = { propose, confirm, 'first-counter': firstCounter };
