// Tests who is asked whether an operation is offered, how often, and how long a caller waits.
import { OperationTimeoutError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { Offer } from './offer.js';
import type { ProbeAnswer } from './operation-probe.js';

function setUp(...answers: readonly ProbeAnswer[]) {
  const surroundings = new FakeSurroundings();
  const client = new FakeClient(new FakeServer(), { surroundings });
  const probes = { count: 0 };
  const offer = new Offer(client, async () => {
    probes.count++;
    return answers[Math.min(probes.count, answers.length) - 1] ?? 'unknown';
  });
  return { surroundings, client, offer, probes };
}

/** The probe answers when it is told to. */
function setUpSilent() {
  const surroundings = new FakeSurroundings();
  const client = new FakeClient(new FakeServer(), { surroundings });
  const waiting: ((answer: ProbeAnswer) => void)[] = [];
  const probe = () => new Promise<ProbeAnswer>((resolve) => waiting.push(resolve));
  const offer = new Offer(client, probe);
  const asked = async () => {
    while (waiting.length === 0) await new Promise(setImmediate);
  };
  return { surroundings, client, offer, waiting, asked };
}

it.each<[ProbeAnswer, boolean]>([
  ['offered', true],
  ['refused', false],
])('a server that answers %s is asked once for each session', async (answer, expected) => {
  const { offer, probes, client } = setUp(answer);
  expect(offer.known).toBeNull();
  const together = await Promise.all([offer.ask(), offer.ask(), offer.ask()]);
  expect(together).toEqual([expected, expected, expected]);
  expect(await offer.ask()).toBe(expected);
  expect(offer.known).toEqual({ session: client.session?.id, offered: expected });
  expect(probes.count).toBe(1);
  client.expire();
  expect(offer.known).toBeNull();
  await client.connected();
  expect(await offer.ask()).toBe(expected);
  expect(probes.count).toBe(2);
});

it('one that always closes the connection, as ZooKeeper does, is not asked again', async () => {
  const { offer, probes } = setUp('closed');
  expect([await offer.ask(), await offer.ask()]).toEqual([false, false]);
  expect(probes.count).toBe(3);
});

it.each<[string, readonly ProbeAnswer[]]>([
  ['closed the connection, and then did not answer', ['closed', 'unknown', 'closed']],
  ['did not answer', ['unknown']],
])('one that %s is asked again the next time', async (_, answers) => {
  const { offer, probes } = setUp(...answers, ...answers, ...answers, 'offered');
  expect(await offer.ask()).toBe(false);
  expect(offer.known).toBeNull();
  while (!(await offer.ask())) expect(offer.known).toBeNull();
  expect(probes.count).toBeGreaterThan(3);
});

it('one that stops while it is asked is not taken for another product', async () => {
  const { offer, probes } = setUp('closed', 'offered');
  expect(await offer.ask()).toBe(true);
  expect(probes.count).toBe(2);
});

it('has an answer for its session alone', async () => {
  const { offer, client, waiting, asked } = setUpSilent();
  const answer = offer.ask();
  await asked();
  client.expire();
  await client.connected();
  waiting[0]?.('offered');
  await answer;
  expect(offer.known).toBeNull();
});

it('is refused after all by the server of this session', async () => {
  const { offer, client, probes } = setUp('offered');
  expect(await offer.ask()).toBe(true);
  offer.refused(client.session?.id ?? 0n);
  expect(await offer.ask()).toBe(false);
  expect(probes.count).toBe(1);
});

it('a caller that leaves waits no longer, and the others are answered by the same probe', async () => {
  const { offer, surroundings, client, waiting, asked } = setUpSilent();
  const controller = new AbortController();
  const [aborted, late, patient] = [
    offer.ask({ signal: controller.signal }),
    offer.ask({ timeoutMs: 5 }),
    offer.ask(),
  ];
  late.catch(() => undefined);
  await asked();
  controller.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow(OperationAbortedError);
  await expect(aborted).rejects.toMatchObject({
    ambiguous: false,
    cause: controller.signal.reason,
  });
  surroundings.advance(5);
  await expect(late).rejects.toThrow(OperationTimeoutError);
  waiting[0]?.('offered');
  expect(await patient).toBe(true);
  expect([waiting.length, surroundings.timerCount]).toEqual([1, 0]);
  const before = offer.ask({ signal: controller.signal });
  await expect(before).rejects.toThrow(OperationAbortedError);
  const closing = setUpSilent();
  const never = closing.offer.ask();
  never.catch(() => undefined);
  await closing.asked();
  await closing.client.close();
  await expect(never).rejects.toThrow(ClientClosedError);
  expect(client.state).toBe('connected');
});
