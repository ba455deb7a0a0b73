/**
 * The text of an answer of an HTTP port, of which no more than a bound is read: the port may be
 * anybody's.
 */

/** Resolves with all characters, or with more than `charactersMax` and without the rest. */
export async function textUpTo(
  body: AsyncIterable<Uint8Array>,
  charactersMax: number,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    // This closes the connection.
    if (text.length > charactersMax) return text;
  }
  return text + decoder.decode();
}
