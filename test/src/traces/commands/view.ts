/**
 * The state that each member has reached.
 *
 * `state [ID...]` prints the role as clients see it, the epochs, the log, the commit, and
 * everything that was delivered.
 */
import { zxidText } from '../describe.js';
import type { Command } from '../session.js';
import { payloadsOf } from '../tree.js';
import { membersIn } from './words.js';

const state: Command = (session, words) => {
  for (const id of membersIn(session, words.length === 0 ? ['all'] : words)) {
    const { zab, tree, serves } = session.ensemble.member(id);
    if (zab === null) {
      session.print(`${id} down`);
      continue;
    }
    const { acceptedEpoch, currentEpoch, ensembleId, committed, history } = zab.replica;
    const role = serves === zab.role ? zab.role : `${zab.role} (not serving)`;
    const epochs = `epochs ${acceptedEpoch}/${currentEpoch}`;
    const log = `last ${zxidText(history.last)} durable ${zxidText(history.durable)}`;
    const applied = payloadsOf(tree).join(' ') || 'nothing';
    const member = ensembleId === '' ? ' no-id' : '';
    session.print(
      `${id} ${role}${member} ${epochs} ${log} committed ${zxidText(committed)}: ${applied}`,
    );
  }
};

export const viewCommands = { state };
