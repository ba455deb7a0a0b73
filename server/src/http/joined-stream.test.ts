/**
 * The events of other members come to a reader within half a second of the timers' time, whatever
 * the other members do. Two members have what real ones have, joined by links without delay; all
 * clocks are manual, so what is measured is what the code waits for, and not the machine.
 */
import type { PeerId, PeerMessage } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { type AnsweringMember, memberAnswers } from '../driver/member-answers.js';
import { PeerQuestions } from '../driver/peer-questions.js';
import { EventRing } from '../measures/event-ring.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { OtherMembers } from './api/other-members.js';
import type { StreamedEvent } from './event-stream.js';
import { APART_MS, JoinedEvents, JoinedStream, placesOf, placesText } from './joined-stream.js';

/** Member 3 has a link, and never answers. */
const SILENT: PeerId = 3;

function useMembers() {
  const timers = new ManualTimers();
  let asked = 0;
  const [one, two] = ([1, 2] as const).map((id) => {
    const sendTo = (peer: PeerId, message: PeerMessage): void => {
      if (message.kind === 'ask') asked += 1;
      if (peer === SILENT || (message.kind !== 'ask' && message.kind !== 'tell')) return;
      timers.defer(() => (peer === 1 ? one : two)?.questions.onMessage(id, message));
    };
    const port = { sendTo, reaches: () => true };
    const questions = new PeerQuestions(timers, port, { run: (action) => action() });
    const ring = new EventRing(() => timers.wallMs());
    questions.answerWith(memberAnswers(Object.create(null) as AnsweringMember, ring));
    return { questions, ring };
  });
  if (one === undefined || two === undefined) throw new Error('there are two members');
  const others = new OtherMembers([2, SILENT], (id, question) =>
    one.questions.ask(id, { question, asker: 'ann' }),
  );
  const joined = new JoinedEvents({ id: 1, ring: one.ring }, others);
  return { timers, joined, one, two, askedSoFar: () => asked };
}

type Members = ReturnType<typeof useMembers>;

/** A reader that takes whatever there is at once. */
async function useReader({ timers, joined }: Members, from = '1:0-0,2:0-0') {
  const heard: { readonly event: StreamedEvent; readonly atMs: number }[] = [];
  const stream = new JoinedStream(joined, placesOf(from) ?? new Map(), 100, timers);
  const take = async (): Promise<void> => {
    for (const event of await stream.take()) heard.push({ event, atMs: timers.nowMs() });
  };
  const end = stream.onNews(() => void take());
  await take();
  await timers.advance(0);
  const names = () => heard.map(({ event }) => Object(event.data)['event']);
  return { heard, names, end };
}

it('hears what happens at another member without any time going by', async () => {
  const members = useMembers();
  const { names } = await useReader(members);
  await members.timers.advance(700);
  members.two.ring.add('info', 'role.serving', { role: 'leading' });
  const happenedMs = members.timers.nowMs();
  await members.timers.advance(0);
  expect([names(), members.timers.nowMs()]).toEqual([['role.serving'], happenedMs]);
});

it('hears every event within the time between two questions, whatever comes before', async () => {
  const members = useMembers();
  const { heard, end } = await useReader(members);
  const happenedMs: number[] = [];
  // Steps of many lengths, so that events fall before, into and after every wait.
  for (let step = 1; step <= 60; step += 1) {
    await members.timers.advance((step * 37) % 211);
    happenedMs.push(members.timers.nowMs());
    members.two.ring.add('info', `e.${step}`, {});
  }
  await members.timers.advance(APART_MS);
  expect(heard.map(({ event }) => Object(event.data)['number'])).toEqual(
    happenedMs.map((_, index) => index + 1),
  );
  const delays = heard.map(({ atMs }, index) => atMs - (happenedMs[index] ?? 0));
  expect(Math.max(...delays)).toBeLessThanOrEqual(APART_MS);
  end();
  const asked = members.askedSoFar();
  await members.timers.advance(10_000);
  expect(members.askedSoFar(), 'nobody is asked for a reader that is gone').toBe(asked);
});

it('hears its own member at once, and asks each other one twice a second at most', async () => {
  const members = useMembers();
  const { names } = await useReader(members);
  members.one.ring.add('info', 'role.looking', {});
  await members.timers.advance(0);
  expect(names()).toEqual(['role.looking']);
  const asked = members.askedSoFar();
  for (let step = 0; step < 100; step += 1) {
    members.two.ring.add('info', 'busy', {});
    await members.timers.advance(50);
  }
  expect(members.askedSoFar() - asked).toBeLessThanOrEqual(2 * 2 * 5);
});

it('asks a member for more only when what it told is taken', async () => {
  const { timers, joined, two, askedSoFar } = useMembers();
  const from = placesOf('1:0-0,2:0-0') ?? new Map();
  const stream = new JoinedStream(joined, from, 2, timers);
  const taken = async () => (await stream.take()).map(({ data }) => Object(data)['event']);
  stream.onNews(() => undefined);
  two.ring.add('info', 'e.0', {});
  await taken();
  await timers.advance(0);
  expect(await taken()).toEqual(['e.0']);
  for (let number = 1; number <= 5; number += 1) two.ring.add('info', `e.${number}`, {});
  await timers.advance(60_000);
  const asked = askedSoFar();
  await timers.advance(1_000);
  // Only the silent member, for which nothing is taken.
  expect(askedSoFar() - asked).toBeLessThanOrEqual(2);
  const pieces = await stream.take();
  expect(pieces.map(({ data }) => Object(data)['event'])).toEqual(['e.1', 'e.2']);
  expect(pieces.map(({ id }) => id)).toEqual(['', expect.stringMatching(/^1:\d+-0,2:\d+-3$/)]);
  await timers.advance(APART_MS);
  expect(await taken()).toEqual(['e.3', 'e.4']);
});

it('gives a reader that begins what all have, and one that comes again what it has not', async () => {
  const members = useMembers();
  const { timers, one, two } = members;
  two.ring.add('info', 'first', {});
  await timers.advance(10);
  one.ring.add('info', 'second', {});
  const stream = new JoinedStream(members.joined, new Map(), 100, timers);
  stream.onNews(() => undefined);
  const begun = stream.take();
  await timers.advance(2_000);
  const pieces = await begun;
  expect(pieces.map(({ data }) => Object(data)['event'])).toEqual(['first', 'second']);
  const places = placesOf(pieces.at(-1)?.id ?? '');
  two.ring.add('info', 'third', {});
  const again = await useReader(members, places === null ? '' : placesText(places));
  expect(again.names()).toEqual(['third']);
});
