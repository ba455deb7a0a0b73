/**
 * One ensemble for all tests of a file: started before the first, ended after the last; when a test
 * fails, or the start, the ends of the members' logs are printed. Tests keep out of each other's
 * way by paths.
 */
import { afterAll, beforeAll, beforeEach, onTestFailed } from 'vitest';
import { Ensemble, type EnsembleOptions } from '../harness/ensemble.js';
import { sync } from '../harness/operations.js';
import { connectTo } from '../harness/use-client.js';

const START_DEADLINE_MS = 120_000;

/** To be called at the top of the file; what it gives is to be called inside the tests. */
export function sharedEnsemble(options: EnsembleOptions = {}): () => Ensemble {
  let shared: Ensemble | undefined;
  const ensemble = () => {
    if (shared === undefined) throw new Error('no ensemble before the first test');
    return shared;
  };
  beforeAll(async () => {
    shared = await Ensemble.create(options);
    shared.start();
    try {
      await shared.serving();
      await caughtUp(shared);
    } catch (error) {
      console.log(shared.logTails());
      throw error;
    }
  }, START_DEADLINE_MS);
  beforeEach(() => {
    onTestFailed(() => console.log(ensemble().logTails()));
  });
  afterAll(() => shared?.close());
  return ensemble;
}

/** Resolves when every running member shows what was committed before the call. */
export async function caughtUp(ensemble: Ensemble): Promise<void> {
  await Promise.all(
    ensemble.running.map(async (member) => {
      const client = await connectTo(member);
      await sync(client);
      await client.close();
    }),
  );
}
