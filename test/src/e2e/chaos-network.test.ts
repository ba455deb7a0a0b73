/**
 * The faults of a chaos run's network take effect: a nemesis without effect would go unnoticed.
 *
 * Packets are counted between two hosts of a separate network. The test is skipped, with the reason
 * in the report, where network namespaces cannot be created.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { command } from '../chaos/command.js';
import {
  type Host,
  Layout,
  makeNamespaces,
  removeNamespaces,
  runNameOf,
} from '../chaos/namespaces.js';
import { Network } from '../chaos/network.js';
import { supported } from '../chaos/supported.js';
import { skipOrFail } from '../harness/foreign.js';

/**
 * The number of packets that a socket's buffer holds even if its reader is not scheduled meanwhile.
 */
const SENT = 200;
const PORT = 4_000;
/** A receiver counts until its standard input has ended and no more packets arrive. */
const RECEIVE = `
  let count = 0;
  const socket = require('node:dgram').createSocket('udp4').on('message', () => count++);
  socket.bind(${PORT}, () => console.log('ready'));
  const end = (seen) => {
    if (count > seen) return setTimeout(end, 100, count);
    console.log(count);
    process.exit(0);
  };
  process.stdin.on('end', () => end(-1)).resume();`;
const SEND = `
  const socket = require('node:dgram').createSocket('udp4');
  let left = ${SENT};
  const next = () => left-- > 0 ? socket.send('x', ${PORT}, process.argv[1], next) : socket.close();
  next();`;

it('a cut drops what one host sends to another, and nothing else, until it is healed', async ({
  skip,
}) => {
  const network = await networkOf(skip);
  expect(await arrivals(network, 1, 2)).toBe(SENT);
  await network.cut([{ from: 1, to: 2 }]);
  expect(await arrivals(network, 1, 2)).toBe(0);
  expect(await arrivals(network, 2, 1)).toBe(SENT);
  expect(await arrivals(network, 1, 'clients')).toBe(SENT);
  await network.healAll();
  expect(await arrivals(network, 1, 2)).toBe(SENT);
});

it('loss drops about the requested share, only on the way to one host', async ({ skip }) => {
  const network = await networkOf(skip);
  if (network.weatherMaker === null) skip('this kernel supports neither loss nor delay');
  await network.storm(2, { lossPercent: 30, delayMs: 0, rateKbit: 0 });
  const arrived = await arrivals(network, 1, 2);
  // Seven standard deviations of two hundred trials.
  expect(arrived).toBeGreaterThan(95);
  expect(arrived).toBeLessThan(185);
  expect(await arrivals(network, 2, 1)).toBe(SENT);
  await network.healAll();
  expect(await arrivals(network, 1, 2)).toBe(SENT);
});

it('a host whose link is down is unreachable until the link is up again', async ({ skip }) => {
  const network = await networkOf(skip);
  await network.unplug(2);
  expect(await arrivals(network, 1, 2)).toBe(0);
  await network.plug(2);
  expect(await arrivals(network, 1, 2)).toBe(SENT);
  expect(await arrivals(network, 2, 1)).toBe(SENT);
});

async function networkOf(skip: (note: string) => never): Promise<Network> {
  const support = await supported();
  if (support.kind === 'impossible')
    return skipOrFail(skip, `no namespaces here: ${support.reason}`);
  const layout = new Layout(runNameOf(process.pid), 2);
  onTestFinished(() => removeNamespaces(layout.run));
  await makeNamespaces(layout);
  return new Network(layout, support.weather);
}

async function arrivals({ layout }: Network, from: Host, to: Host): Promise<number> {
  const node = (host: Host) => ['netns', 'exec', layout.namespace(host), process.execPath, '-e'];
  const receiver = spawn('ip', [...node(to), RECEIVE], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(receiver.stdout, 'data');
  // A packet to a host without a carrier may come back as an error: it has not arrived then.
  await command('ip', [...node(from), SEND, layout.address(to)]);
  receiver.stdin.end();
  await once(receiver, 'close');
  return Number(said.split('\n')[1]);
}
