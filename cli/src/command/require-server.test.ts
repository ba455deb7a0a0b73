import type { Config } from '@rookery/server';
import { expect, it } from 'vitest';
import { requireServer } from './require-server.js';

const config = { servers: [{ id: 1 }, { id: 2 }] } as unknown as Config;

it('accepts an id of the file, and names the ids of the file for another one', () => {
  expect(() => requireServer(config, 'a.json', 2)).not.toThrow();
  expect(() => requireServer(config, 'a.json', 3)).toThrow(
    'a.json has no server with the id 3; its ids are 1, 2',
  );
});
