/**
 * Loaded into a member by `--import`, on SIGUSR2 collects all garbage.
 *
 * The runtime leaves tens of megabytes of garbage lying for minutes when little is going on, more
 * one time and less another; what a leak is shows only without it. Never part of the product.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
if (typeof collect !== 'function') throw new Error('this runtime does not expose its collector');
process.on('SIGUSR2', () => {
  collect();
});
