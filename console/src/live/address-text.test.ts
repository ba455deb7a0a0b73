import { expect, it } from 'vitest';
import { addressText } from './address-text.js';

it('puts IPv6 addresses into brackets, and nothing else', () => {
  expect(addressText('::1', 2181)).toBe('[::1]:2181');
  expect(addressText('zk1', 2181)).toBe('zk1:2181');
});
