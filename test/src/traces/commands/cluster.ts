/**
 * Members come and go.
 *
 *   cluster N [founded|stopped] [window=BYTES] [found-with-quorum[=ID,ID]] [former=ID,ID]
 *             a new ensemble: started and connected with nothing delivered yet; `founded`: at work
 *             (led by the highest id in epoch 1); `stopped`: not started; `former`: the list of
 *             members with which all of them served before
 *   disk ID accepted=A current=C id=X [founded] log=e1:1..3,e2:1 [base=e1:1] [checkpoint=e1:2]
 *           [lineage=1:11,2:21]
 *             what a stopped member finds on its disk; `lineage`: who led each epoch
 *   start ID... | crash ID... | restart ID...     crash loses what is not persisted
 *   wipe ID | damage ID                           of a stopped member's disk
 */
import { assert, type PeerId } from '@rookery/protocol';
import type { Command, Session } from '../session.js';
import { applyTo, EMPTY_TREE } from '../tree.js';
import { runFor } from './time.js';
import { logIn, memberIn, membersIn, pairsIn, settingIn, zxidIn } from './words.js';

const cluster: Command = (session, words) => {
  const window = settingIn(words, 'window');
  const former = settingIn(words, 'former');
  const ensemble = session.create({
    size: Number(words[0]),
    ...(window === null ? {} : { windowBytesMax: Number(window) }),
    founders: foundersIn(words),
    formerMembers: former === null ? [] : [former.split(',').map(Number)],
  });
  if (words.includes('stopped')) return;
  if (!words.includes('founded')) {
    startAll(session);
    return;
  }
  session.capture(() => {
    startAll(session);
    runFor(session, 1000);
  });
  const led = [...ensemble.members.values()].filter(({ serves }) => serves !== 'looking');
  assert(led.length === ensemble.members.size, 'the founded ensemble serves');
};

/** Returns with every link up at both ends and the first votes in flight. */
function startAll(session: Session): void {
  for (const id of session.ensemble.members.keys()) session.ensemble.start(id);
  for (const [a, b] of pairsIn(session, ['all'])) {
    session.ensemble.connect(a, b);
    session.ensemble.deliver(a, b);
    session.ensemble.deliver(b, a);
  }
}

/** The members that were started with --found: those that are named, or all. */
function foundersIn(words: readonly string[]): readonly PeerId[] | 'all' {
  if (words.includes('found-with-quorum')) return 'all';
  const named = settingIn(words, 'found-with-quorum');
  return named === null ? [] : named.split(',').map(Number);
}

const disk: Command = (session, words) => {
  const member = session.ensemble.member(memberIn(session, words[0]));
  assert(member.zab === null, `member ${member.id} is up`);
  const { disk: target } = member;
  target.accepted = Number(settingIn(words, 'accepted') ?? 0);
  target.current = Number(settingIn(words, 'current') ?? 0);
  target.ensembleId = settingIn(words, 'id') ?? '';
  target.founded = words.includes('founded');
  target.lineage = (settingIn(words, 'lineage') ?? '').split(',').flatMap((pair) => {
    const [epoch = 0, identity = 0] = pair.split(':').map(Number);
    return identity === 0 ? [] : [{ epoch, identity }];
  });
  target.base = zxidIn(settingIn(words, 'base') ?? '0');
  const log = settingIn(words, 'log');
  const checkpoint = zxidIn(settingIn(words, 'checkpoint') ?? '0');
  const proposals = log === null ? [] : logIn(log, 0);
  target.log = proposals.filter(({ zxid }) => zxid > target.base);
  target.checkpoint = proposals
    .filter(({ zxid }) => zxid <= checkpoint)
    .reduce((tree, proposal) => applyTo(tree, proposal), EMPTY_TREE);
  session.ensemble.checker.onGiven(target.checkpoint);
};

const start: Command = (session, words) => {
  for (const id of membersIn(session, words)) session.ensemble.start(id);
};

const crash: Command = (session, words) => {
  for (const id of membersIn(session, words)) session.ensemble.crash(id);
};

const restart: Command = (session, words) => {
  crash(session, words);
  start(session, words);
};

const wipe: Command = (session, words) => {
  for (const id of membersIn(session, words)) session.ensemble.lose(id, 'wipe');
};

const damage: Command = (session, words) => {
  for (const id of membersIn(session, words)) session.ensemble.lose(id, 'damage');
};

export const clusterCommands = { cluster, disk, start, crash, restart, wipe, damage };
