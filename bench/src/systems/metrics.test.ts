/** A metric is found by its whole name. */
import { expect, it } from 'vitest';
import { metricIn } from './metrics.js';

const TEXT = '# HELP a_total Of a.\na_total_more 1\na_total{of="b"} 2\na_total 3e+2\n';

it('finds the value of a metric among others whose names begin alike', () => {
  expect(metricIn(TEXT, 'a_total')).toBe(300);
  expect(metricIn(TEXT, 'a_total_more')).toBe(1);
  expect(metricIn(TEXT, 'a')).toBeNaN();
});
