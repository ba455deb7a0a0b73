/** What commands make of the answers of an admin port, whoever gives them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '@rookery/server';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { AdminPort } from './admin-port.js';

/** A port that answers everything with this. */
async function portThatAnswers(status: number, body: string): Promise<AdminPort> {
  return await portOf(
    createServer((_, response) => {
      response.writeHead(status).end(body);
    }),
  );
}

async function portOf(server: Server): Promise<AdminPort> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return new AdminPort(`http://127.0.0.1:${port}`, {});
}

const { signal } = new AbortController();
const schema = z.object({ members: z.array(z.number()) });

it('says why it was refused, without what would change the terminal', async () => {
  const detail = 'No.\x1b]0;owned\x07\r\nrookery: all is well';
  const port = await portThatAnswers(403, JSON.stringify({ detail }));
  const refused = port.get(schema, '/hot', signal);
  await expect(refused).rejects.toThrow(OperatorError);
  await expect(refused).rejects.toThrow(
    /refused: No\.\\u001b\]0;owned\\u0007\\u000d\\nrookery: all is well$/,
  );
});

it('reads a refusal without an end only as far as its bound, and gives up the connection', async () => {
  const part = Buffer.alloc(64 << 10, 'x');
  let parts = 0;
  const endless = createServer((_, response) => {
    response.writeHead(403);
    const more = (): void => {
      // Each part follows the one before, so only the reader can end this.
      parts += 1;
      response.write(part, (error) => {
        if (error === null || error === undefined) setImmediate(more);
      });
    };
    more();
  });
  const closed = new Promise<void>((resolve) => {
    endless.on('connection', (socket) => socket.on('close', () => resolve()));
  });
  const port = await portOf(endless);
  await expect(port.get(schema, '/hot', signal)).rejects.toThrow(/refused: status 403$/);
  await closed;
  // What the system buffers is less. Without the bound this would be read until the time is over.
  expect(parts * part.length).toBeLessThan(64 << 20);
});

it('takes no answer of another form', async () => {
  for (const body of ['', '{', '[]', '{"members":["x"]}']) {
    const port = await portThatAnswers(200, body);
    await expect(port.get(schema, '/hot', signal)).rejects.toThrow('not one of a member');
  }
});

it('sends no password where the port would have it sent on to', async () => {
  let asked = 0;
  const other = createServer((_, response) => {
    asked += 1;
    response.end('{"members":[1]}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const to = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  const port = await portOf(
    createServer((_, response) => {
      response.writeHead(307, { location: to }).end();
    }),
  );
  await expect(port.get(schema, '/hot', signal)).rejects.toThrow(`sends the request on to ${to}`);
  expect(asked).toBe(0);
});
