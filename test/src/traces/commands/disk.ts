/**
 * Disks.
 *
 *   persist ID [N|all]    the oldest storage outputs become durable (`all` unless told)
 *   pending ID            what waits for the disk
 *   slow ID... | fast ID...    a slow disk writes only when told to, not in `stabilize`
 *   checkpoint ID         the tree as it is now becomes durable
 *   purge ID e1:4         the log now starts after this zxid
 *   room ID... enough|full|scarce    the free space that the core is told of
 *   version ID... 20      the newest wire version that these members speak, on links from now on
 *   log ID                what is on the disk
 */
import { assert } from '@rookery/protocol';
import { outputText, rangesText, zxidText } from '../describe.js';
import type { Command } from '../session.js';
import { textOf } from '../tree.js';
import { countIn, memberIn, membersIn, zxidIn } from './words.js';

const persist: Command = (session, words) => {
  const id = memberIn(session, words[0]);
  const count = countIn(words[1] ?? 'all');
  for (let done = 0; done < count; done += 1) {
    const output = session.ensemble.member(id).disk.queue[0];
    if (output === undefined) return;
    session.print(`${id} persisted t${output.ticket} (${output.kind})`);
    session.ensemble.persist(id);
  }
};

const pending: Command = (session, words) => {
  const id = memberIn(session, words[0]);
  for (const output of session.ensemble.member(id).disk.queue) {
    session.print(outputText(id, output) ?? '');
  }
};

const slow: Command = (session, words) => {
  for (const id of membersIn(session, words)) session.ensemble.member(id).slow = true;
};

const fast: Command = (session, words) => {
  for (const id of membersIn(session, words)) session.ensemble.member(id).slow = false;
};

const checkpoint: Command = (session, words) => {
  for (const id of membersIn(session, words)) session.ensemble.checkpoint(id);
};

const purge: Command = (session, words) => {
  const done = session.ensemble.purge(memberIn(session, words[0]), zxidIn(words[1]));
  if (!done) session.print('not purged');
};

const log: Command = (session, words) => {
  for (const id of membersIn(session, words)) {
    const { disk } = session.ensemble.member(id);
    const epochs = `accepted=${disk.accepted} current=${disk.current}`;
    const ensemble = `id=${disk.ensembleId || 'none'}${disk.founded ? ' founded' : ''}`;
    const damaged = disk.damaged ? ' DAMAGED' : '';
    session.print(`${id}: ${epochs} ${ensemble}${damaged}`);
    const texts = disk.log.map(textOf).join(' ');
    const ranges = disk.log.length === 0 ? 'nothing' : `${rangesText(disk.log)} (${texts})`;
    session.print(
      `   checkpoint ${zxidText(disk.checkpoint.zxid)}, log after ${zxidText(disk.base)}: ${ranges}`,
    );
  }
};

const room: Command = (session, words) => {
  const told = words.at(-1);
  assert(told === 'enough' || told === 'full' || told === 'scarce', `no such room: ${told}`);
  for (const id of membersIn(session, words.slice(0, -1))) session.ensemble.setRoom(id, told);
};

const version: Command = (session, words) => {
  for (const id of membersIn(session, words.slice(0, -1))) {
    session.ensemble.member(id).version = Number(words.at(-1));
  }
};

export const diskCommands = {
  persist,
  pending,
  slow,
  fast,
  checkpoint,
  purge,
  room,
  version,
  log,
};
