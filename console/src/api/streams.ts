/**
 * Streams of the API, parsed as they arrive: lines of JSON, and Server-Sent Events.
 *
 * Events are read by `fetch`, because EventSource cannot send the headers that say who asks. Both
 * parsers take text in any pieces, and refuse a line that grows past a bound.
 */

/** The characters of one line; the server's longest has a fraction of them. */
const LINE_CHARACTERS_MAX = 4_000_000;

export interface ServerEvent {
  /** '' if the server gave none. */
  readonly id: string;
  readonly event: string;
  /** The text of `data:`, usually JSON. */
  readonly data: string;
}

/** Cuts pieces of text into lines without their ends; the last line may lack one. */
class LineCutter {
  #rest = '';

  /** Returns the lines that this piece completes. Throws RangeError for a line without an end. */
  take(piece: string): readonly string[] {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LINE_CHARACTERS_MAX) throw new RangeError('a line is too long');
    return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }

  /** What is left at the end of the stream; '' if it ended with a line feed. */
  end(): string {
    return this.#rest;
  }
}

/** Builds events from lines; a comment, which a server sends to keep a connection, is none. */
class EventBuilder {
  #id = '';
  #event = '';
  #data: string[] = [];

  /** Returns the event that this line ends. */
  take(line: string): ServerEvent | null {
    if (line === '') {
      const isEmpty = this.#data.length === 0 && this.#event === '';
      const event = { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') };
      this.#event = '';
      this.#data = [];
      return isEmpty ? null : event;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') this.#id = value;
    if (field === 'event') this.#event = value;
    if (field === 'data') this.#data.push(value);
    return null;
  }
}

export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const cutter = new LineCutter();
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader();
  try {
    for (;;) {
      const { value, done } = (await reader.read()) as ReadableStreamReadResult<string>;
      if (done) break;
      yield* cutter.take(value);
    }
    if (cutter.end() !== '') yield cutter.end();
  } finally {
    // Whoever stops reading early must not leave the connection open.
    await reader.cancel().catch(() => undefined);
  }
}

export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const builder = new EventBuilder();
  for await (const line of linesOf(body)) {
    const event = builder.take(line);
    if (event !== null) yield event;
  }
}
