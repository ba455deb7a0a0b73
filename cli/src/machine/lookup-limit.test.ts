import { expect, it } from 'vitest';
import { environmentForChild, limitLookups } from './lookup-limit.js';

it('limits the lookups of a command, and not those of the programs that it starts', () => {
  const environment: NodeJS.ProcessEnv = { PATH: '/bin' };
  limitLookups(environment);
  expect(environment['RES_OPTIONS']).toContain('timeout:');
  expect(environmentForChild(environment)).toEqual({ PATH: '/bin' });
});

it("keeps the user's own choice, for the programs that it starts, too", () => {
  const environment: NodeJS.ProcessEnv = { PATH: '/bin', RES_OPTIONS: 'timeout:7' };
  limitLookups(environment);
  expect(environmentForChild(environment)).toEqual({ PATH: '/bin', RES_OPTIONS: 'timeout:7' });
});
