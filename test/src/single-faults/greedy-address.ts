/**
 * One address opens as many sessions at one member as it can get, with a limit of 1,024 files.
 *
 * A client from another address connects within a second, and so do the four-letter word `ruok`,
 * `/readyz` and the admin port. The greedy address is 127.0.0.9 and everything else is 127.0.0.1;
 * `maxClientCnxns` does not bound loopback addresses unless it is set.
 */
import { connect, type Socket } from 'node:net';
import { fourLetterWord } from '../harness/four-letter.js';
import { httpGet } from '../harness/http.js';
import type { Member } from '../harness/member.js';
import { getChildren } from '../harness/operations.js';
import { type Product, productNamed } from '../harness/product.js';
import { connectRequest, WireClient } from '../harness/wire-client.js';
import { nowMs } from './pulse.js';
import type { PlayOptions, Scenario } from './scenario.js';
import { type PlayNotes, Stage } from './stage.js';

const FILES = 1_024;
const ATTEMPTS = 1_500;
const AT_ONCE = 100;
const GREEDY = '127.0.0.9';
const ANSWER_MS_MAX = 1_000;
const SESSION_TIMEOUT_MS = 30_000;
const HANDSHAKE_DEADLINE_MS = 3_000;

export const greedyAddress: Scenario = {
  name: 'greedy-address',
  promise:
    'one address holds all sessions that it can get at a member: another address, `ruok`, ' +
    '/readyz and the admin port are answered within a second',
  async play({ report }: PlayOptions) {
    for (const maxClientCnxns of [0, 60]) {
      const settings = { maxClientCnxns };
      // The load keeps off the attacked member: it would hold places from before the attack.
      const stage = await Stage.set({ product: withFewFiles(), settings }, [2, 3]);
      try {
        const fault = `all places of member 1 are taken, maxClientCnxns ${maxClientCnxns}`;
        report(await stage.play(fault, {}, (notes) => holdAll(stage, notes)));
      } finally {
        await stage.strike();
      }
    }
  },
};

function withFewFiles(): Product {
  const rookery = productNamed('rookery');
  return {
    ...rookery,
    prepare(layout) {
      const command = rookery.prepare(layout);
      const args = [`--nofile=${FILES}:${FILES}`, command.file, ...command.args];
      return { ...command, file: 'prlimit', args };
    },
  };
}

async function holdAll(stage: Stage, notes: PlayNotes): Promise<void> {
  const member = stage.ensemble.member(1);
  const held: Socket[] = [];
  try {
    for (let opened = 0; opened < ATTEMPTS; opened += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, () => openSession(member.clientPort));
      held.push(...(await Promise.all(some)).filter((socket) => socket !== null));
    }
    notes.said(`${GREEDY} holds ${held.filter(({ destroyed }) => !destroyed).length} sessions`);
    await inTime('a client from another address', notes, async () => {
      const client = await WireClient.connect({ port: member.clientPort });
      await getChildren(client, '/');
      await client.close();
    });
    await inTime('ruok', notes, async () => {
      const answer = await fourLetterWord(member.clientPort, 'ruok');
      if (answer !== 'imok') throw new Error(`the answer is ${JSON.stringify(answer)}`);
    });
    await httpInTime(member, notes);
    await notes.observe();
    for (const line of member.log().split('\n')) {
      if (/refused|full|places/.test(line)) {
        notes.said(`log: ${line}`);
        break;
      }
    }
  } finally {
    for (const socket of held) socket.destroy();
  }
}

async function httpInTime(member: Member, notes: PlayNotes): Promise<void> {
  await inTime('/readyz', notes, async () => {
    const { status } = await httpGet(member.metricsPort, '/readyz');
    if (status !== 200) throw new Error(`the status is ${status}`);
  });
  await inTime('the admin port', notes, async () => {
    const { status } = await httpGet(member.adminPort, '/commands');
    if (status >= 500) throw new Error(`the status is ${status}`);
  });
}

async function inTime(what: string, notes: PlayNotes, act: () => Promise<void>): Promise<void> {
  const from = nowMs();
  try {
    await act();
    const tookMs = Math.round(nowMs() - from);
    notes.said(`${what}: answered after ${tookMs} ms`);
    if (tookMs > ANSWER_MS_MAX) notes.broken(`${what} was answered after ${tookMs} ms`);
  } catch (error) {
    notes.broken(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Null if the member gave it no session. */
function openSession(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: GREEDY });
    const late = setTimeout(() => socket.destroy(), HANDSHAKE_DEADLINE_MS);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(late);
      resolve(null);
    });
    socket.once('data', () => {
      clearTimeout(late);
      resolve(socket);
    });
    socket.write(connectRequest({ timeoutMs: SESSION_TIMEOUT_MS }));
  });
}
