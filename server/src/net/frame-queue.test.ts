import { expect, it } from 'vitest';
import { FrameQueue } from './peer-link.js';

const frame = (text: string) => Buffer.from(text);

function queueOf(...texts: string[]): FrameQueue {
  const queue = new FrameQueue();
  for (const text of texts) queue.push(frame(text), text.startsWith('!'));
  return queue;
}

function takeAll(queue: FrameQueue, bytesMax: number): string[] {
  const taken: string[] = [];
  while (queue.bytes > 0) taken.push(Buffer.concat(queue.take(bytesMax)).toString());
  return taken;
}

it('gives everything in one piece when it is little', () => {
  expect(takeAll(queueOf('aa', 'bb', 'cc'), 100)).toEqual(['aabbcc']);
});

it('gives a single frame as it is, without a copy', () => {
  const queue = new FrameQueue();
  const only = frame('only');
  queue.push(only, false);
  expect(queue.take(100)[0]).toBe(only);
});

it('joins small frames that follow each other, and copies no large one', () => {
  const queue = queueOf('aa', 'bb', 'c'.repeat(16 << 10), 'd'.repeat(20_000), 'ee', '!f');
  const pieces = queue.take(1 << 20);
  const texts = pieces.map((piece) => Buffer.from(piece).toString());
  expect(texts).toEqual(['!faabb', 'c'.repeat(16 << 10), 'd'.repeat(20_000), 'ee']);
  const large = frame('x'.repeat(16 << 10));
  queue.push(frame('small'), false);
  queue.push(large, false);
  expect(queue.take(1 << 20)[1]).toBe(large);
  expect(queue.bytes).toBe(0);
});

it('gives whole frames, one at least, and no more than asked for otherwise', () => {
  expect(takeAll(queueOf('aaaaaaaa', 'bb', 'cc', 'dd'), 5)).toEqual(['aaaaaaaa', 'bbcc', 'dd']);
});

it('gives what is urgent first and leaves the order of everything else', () => {
  const queue = queueOf('aaa', '!1', 'bbb', '!2');
  expect(Buffer.concat(queue.take(3)).toString()).toBe('!1!2');
  expect(takeAll(queue, 3)).toEqual(['aaa', 'bbb']);
});

it('counts its bytes and keeps the order over thousands of frames', () => {
  const texts = Array.from({ length: 3_000 }, (_, index) => `${index};`);
  const queue = queueOf(...texts);
  expect(queue.bytes).toBe(texts.join('').length);
  expect(takeAll(queue, 7).join('')).toBe(texts.join(''));
});

it('is empty when it was cleared', () => {
  const queue = queueOf('aa', '!b');
  queue.clear();
  queue.push(frame('c'), false);
  expect(takeAll(queue, 10)).toEqual(['c']);
});
