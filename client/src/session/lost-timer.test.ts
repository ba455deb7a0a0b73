import { expect, it } from 'vitest';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { turn } from '../testing/scripted-server.js';
import { LostTimer } from './lost-timer.js';

const TIMEOUT_MS = 10_000;

function started(contact: { lastAnsweredMs: number; provableMs: number }) {
  const surroundings = new FakeSurroundings();
  const lost: number[] = [];
  const onLost = () => lost.push(surroundings.nowMs());
  new LostTimer({ surroundings, contact, onLost }).start(TIMEOUT_MS);
  return { surroundings, lost };
}

it('says lost in the very turn when no answer that waits unread can change it', () => {
  const { surroundings, lost } = started({ lastAnsweredMs: 0, provableMs: 0 });
  surroundings.advance(8_999);
  expect(lost).toEqual([]);
  surroundings.advance(1);
  expect(lost).toEqual([9_000]);
});

it('reads what waits in the socket first when an answer there may prove that it lives', async () => {
  const contact = { lastAnsweredMs: 0, provableMs: 4_000 };
  const { surroundings, lost } = started(contact);
  surroundings.advance(9_000);
  expect(lost).toEqual([]);
  contact.lastAnsweredMs = 4_000;
  await turn();
  surroundings.advance(3_999);
  expect(lost).toEqual([]);
  surroundings.advance(1);
  expect(lost).toEqual([13_000]);
});
