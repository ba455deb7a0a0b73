import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { errorMessage } from './error-message.js';

function failureOf(host: string): Promise<unknown> {
  return new Promise((resolve) => {
    // The port is reserved, and nobody listens there.
    connect({ host, port: 1 }).on('error', resolve);
  });
}

it('is the message of an error, and the text of anything else', () => {
  expect(errorMessage(new Error('a'))).toBe('a');
  expect(errorMessage('a')).toBe('a');
  expect(errorMessage(null)).toBe('null');
});

it('puts an IPv6 address that Node has put next to a port into brackets', async () => {
  expect(errorMessage(await failureOf('::1'))).toMatch(/^connect E[A-Z]+ \[::1\]:1\b/);
  expect(errorMessage(await failureOf('127.0.0.1'))).toMatch(/^connect E[A-Z]+ 127\.0\.0\.1:1\b/);
});

it('leaves a message alone that names another address', () => {
  const error = Object.assign(new Error('no $& here'), { address: '::1', port: 2181 });
  expect(errorMessage(error)).toBe('no $& here');
});
