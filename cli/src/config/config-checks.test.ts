import { expect, it } from 'vitest';
import { metricsDialHost } from './config-checks.js';

it('asks the metrics port of a member at its own host where the common setting names none', () => {
  const hostWith = (metricsHost: string | null) =>
    metricsDialHost({ host: 'zk2' }, { metricsHost });
  for (const here of [null, '0.0.0.0', '::', '*', '127.0.0.1', 'localhost']) {
    expect(hostWith(here)).toBe('zk2');
  }
  expect(hostWith('metrics.internal')).toBe('metrics.internal');
});
