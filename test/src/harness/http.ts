/**
 * HTTP to a member's metrics port and admin port, for the tests.
 */
export interface HttpReply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends one request to a port of 127.0.0.1; rejects if it is not answered in time. */
export async function httpGet(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpReply> {
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal });
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, text: await response.text() };
}

/** Parses the series of `/metrics`: each name with its labels, as it is printed. */
export async function scrape(port: number): Promise<ReadonlyMap<string, number>> {
  const { text } = await httpGet(port, '/metrics');
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}
