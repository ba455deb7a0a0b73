// The most recent connection is cached; it must not be known any longer than it exists.
import { expect, it } from 'vitest';
import { TestClient } from '../simulated/pipeline/test-client.js';
import { Connection, Connections } from './connection.js';

function connection(id: number): Connection {
  return new Connection(id, new TestClient(id, () => undefined), false);
}

it('a connection that was asked for last is unknown once it is gone', () => {
  const connections = new Connections();
  const [first, second] = [connection(1), connection(2)];
  connections.add(first);
  connections.add(second);
  expect(connections.get(1)).toBe(first);
  connections.delete(first);
  expect(connections.get(1)).toBeUndefined();
  expect(connections.get(2)).toBe(second);
  const next = connection(1);
  connections.add(next);
  expect(connections.get(1)).toBe(next);
});

it('one that was asked for in vain is known once it is there', () => {
  const connections = new Connections();
  expect(connections.get(1)).toBeUndefined();
  const first = connection(1);
  connections.add(first);
  expect(connections.get(1)).toBe(first);
});

it('a session is served by the connection that was bound last, as long as that is there', () => {
  const connections = new Connections();
  const [first, second] = [connection(1), connection(2)];
  for (const one of [first, second]) {
    one.session = 7;
    connections.add(one);
    connections.bind(one);
  }
  connections.delete(first);
  expect(connections.of(7)).toBe(second);
  connections.delete(second);
  expect(connections.of(7)).toBeUndefined();
});
