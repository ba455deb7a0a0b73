/** Who is closed where clients take no answers: whoever holds most, by address. */
import { expect, it } from 'vitest';
import { UNTAKEN_BYTES_MAX, UntakenBytes } from './http-port.js';

const MB = 1 << 20;

function useHolders() {
  const logged: string[] = [];
  const untaken = new UntakenBytes((address, bytes) => {
    logged.push(`${address}: ${bytes / MB} MB`);
  });
  const closed: string[] = [];
  const holder = (name: string, remoteAddress: string) => ({
    remoteAddress,
    destroy: () => void closed.push(name),
  });
  return { untaken, closed, logged, holder };
}

it('forgets what is taken, whoever takes it', () => {
  const { untaken, closed, holder } = useHolders();
  const [one, two] = [holder('one', '10.0.0.1'), holder('two', '10.0.0.2')];
  for (let count = 0; count < 100; count++) {
    untaken.hold(one, 30 * MB);
    untaken.hold(two, 1);
    untaken.release(one, 30 * MB);
    untaken.release(two, 1);
  }
  expect([untaken.bytes, closed]).toEqual([0, []]);
});

it('closes the one that holds most, of the address that holds most', () => {
  const { untaken, closed, logged, holder } = useHolders();
  const alone = holder('alone', '10.0.0.1');
  untaken.hold(alone, 12 * MB);
  for (const [index, mb] of [7, 9, 4].entries()) {
    untaken.hold(holder(`of many ${index}`, '10.0.0.2'), mb * MB);
  }
  expect([closed, untaken.bytes]).toEqual([[], 32 * MB]);
  untaken.hold(holder('newcomer', '10.0.0.3'), 5 * MB);
  expect([closed, untaken.bytes]).toEqual([['of many 1'], 28 * MB]);
  expect(logged).toEqual(['10.0.0.2: 9 MB']);
  untaken.release(alone, 12 * MB);
  expect(untaken.bytes).toBe(16 * MB);
});

it('counts addresses of one network of 64 bits as one', () => {
  const { untaken, closed, holder } = useHolders();
  untaken.hold(holder('alone', '2001:db8:1::1'), 12 * MB);
  for (let host = 1; host <= 5; host++) {
    untaken.hold(holder(`of many ${host}`, `2001:db8:2::${host}`), (host + 1) * MB);
  }
  untaken.hold(holder('newcomer', '10.0.0.3'), MB);
  expect(closed).toEqual(['of many 5']);
});

it('sends any answer where nothing else waits, and nothing of a client that was closed', () => {
  const { untaken, closed, holder } = useHolders();
  const large = holder('large', '10.0.0.1');
  untaken.hold(large, 3 * UNTAKEN_BYTES_MAX);
  expect(closed).toEqual([]);
  untaken.hold(holder('other', '10.0.0.2'), 1);
  untaken.release(large, 3 * UNTAKEN_BYTES_MAX);
  expect([closed, untaken.bytes]).toEqual([['large'], 1]);
});
