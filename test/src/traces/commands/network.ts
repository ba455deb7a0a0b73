/**
 * Links and what is under way on them.
 *
 *   connect A B | connect all        a new link, up at both ends at once
 *   break A B                        the link is gone with all that was under way on it
 *   cut A B | isolate A | heal A B | heal all    nothing gets through, nobody is told
 *   deliver A B [N|all]              the oldest packets from A to B arrive
 *   lose A B [N|all]                 the newest packets from A to B never will
 *   queue                            what is under way
 *   transfer A                       A's driver carries out the snapshot or history asked for
 *   stabilize [ID...]                disks write and messages arrive, until nothing moves; among
 *                                    these members only, if any are named. No time passes.
 */
import { assert, type PeerId } from '@rookery/protocol';
import { packetText } from '../describe.js';
import type { Command, Session } from '../session.js';
import { countIn, memberIn, membersIn, pairsIn } from './words.js';

export function connectPair(session: Session, a: PeerId, b: PeerId): void {
  const { ensemble } = session;
  ensemble.connect(a, b);
  ensemble.deliver(a, b);
  ensemble.deliver(b, a);
}

/** Members that can reach each other redial. */
export function connectAll(session: Session): void {
  for (const [a, b] of pairsIn(session, ['all'])) {
    if (session.ensemble.canConnect(a, b)) connectPair(session, a, b);
  }
}

export function settle(session: Session, ids: readonly PeerId[]): void {
  const { ensemble } = session;
  for (let round = 0; round < 1000; round += 1) {
    let moved = false;
    for (const id of ids) {
      if (!ensemble.member(id).slow) while (ensemble.persist(id)) moved = true;
      while (ensemble.transfer(id) !== null) moved = true;
    }
    for (const { from, to } of ensemble.network.directions()) {
      if (ids.includes(from) && ids.includes(to) && ensemble.deliver(from, to)) moved = true;
    }
    if (!moved) return;
  }
  assert(false, 'messages without end');
}

const connect: Command = (session, words) => {
  if (words[0] === 'all') connectAll(session);
  else for (const [a, b] of pairsIn(session, words)) connectPair(session, a, b);
};

const break_: Command = (session, words) => {
  for (const [a, b] of pairsIn(session, words)) session.ensemble.breakLink(a, b);
};

const cut: Command = (session, words) => {
  for (const [a, b] of pairsIn(session, words)) session.ensemble.network.cut(a, b);
};

const isolate: Command = (session, words) => {
  const id = memberIn(session, words[0]);
  for (const other of session.ensemble.members.keys()) session.ensemble.network.cut(id, other);
};

const heal: Command = (session, words) => {
  for (const [a, b] of pairsIn(session, words)) session.ensemble.network.heal(a, b);
};

const deliver: Command = (session, words) => {
  const [from, to] = membersIn(session, words.slice(0, 2));
  assert(from !== undefined && to !== undefined, 'deliver A B [N|all]');
  const count = countIn(words[2]);
  for (let done = 0; done < count; done += 1) {
    const packet = session.ensemble.network.direction(from, to)?.packets[0];
    if (packet !== undefined) session.print(`${to} <- ${from} ${packetText(packet)}`);
    if (session.ensemble.deliver(from, to)) continue;
    if (done === 0 || Number.isFinite(count)) session.print(`nothing from ${from} to ${to}`);
    return;
  }
};

const lose: Command = (session, words) => {
  const [from, to] = membersIn(session, words.slice(0, 2));
  assert(from !== undefined && to !== undefined, 'lose A B [N|all]');
  session.ensemble.network.lose(from, to, Math.min(countIn(words[2]), Number.MAX_SAFE_INTEGER));
};

const queue: Command = (session) => {
  for (const { from, to, packets } of session.ensemble.network.directions()) {
    for (const packet of packets) session.print(`${from} .. ${to} ${packetText(packet)}`);
  }
};

const transfer: Command = (session, words) => {
  const done = session.ensemble.transfer(memberIn(session, words[0]));
  if (done === null) session.print('no transfer was asked for');
};

const stabilize: Command = (session, words) => {
  settle(session, membersIn(session, words.length === 0 ? ['all'] : words));
};

export const networkCommands = {
  connect,
  break: break_,
  cut,
  isolate,
  heal,
  deliver,
  lose,
  queue,
  transfer,
  stabilize,
};
