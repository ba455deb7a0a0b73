/**
 * Time. Pings are sent and arrive as time passes, unless their pair is cut.
 *
 * `tick MS` lets time pass in steps of one heartbeat, while messages other than pings wait. `run
 * MS` lets time pass while everything works: links are dialled, disks write, messages arrive.
 */
import { assert } from '@rookery/protocol';
import { HEARTBEAT_MS } from '../ensemble.js';
import type { Command, Session } from '../session.js';
import { connectAll, settle } from './network.js';

function pass(session: Session, ms: number, eachStep: () => void): void {
  assert(Number.isInteger(ms) && ms > 0, `not a number of ms: ${ms}`);
  for (let left = ms; left > 0; left -= HEARTBEAT_MS) {
    session.ensemble.tick(Math.min(left, HEARTBEAT_MS));
    session.ensemble.deliverPings();
    eachStep();
  }
}

export function runFor(session: Session, ms: number): void {
  const ids = [...session.ensemble.members.keys()];
  pass(session, ms, () => {
    connectAll(session);
    settle(session, ids);
  });
}

const tick: Command = (session, words) => pass(session, Number(words[0]), () => {});

const run: Command = (session, words) => runFor(session, Number(words[0]));

export const timeCommands = { tick, run };
