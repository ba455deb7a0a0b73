/**
 * One request of HTTP to a port of this machine, for tests that send what no well-behaved client
 * would.
 */
import { request } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends the path as it is: `fetch` would take `..` out of it. */
export function http(
  port: number,
  method: string,
  path: string,
  headers = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    asked.on('error', reject);
    asked.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (more) => {
        text += more;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.end();
  });
}
