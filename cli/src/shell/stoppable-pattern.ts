/**
 * A regular expression of the user, searched for in texts that others have written.
 *
 * Expressions of users may backtrack, and a hostile name or value can make that last for hours. So
 * a search that takes longer than its time ends with an OperatorError, and the command answers
 * signals within that time. Called by the commands that search.
 */
import { type Context, createContext, Script } from 'node:vm';
import { OperatorError } from '@rookery/server';

const PATTERN_LENGTH_MAX = 1_000;
const SEARCH_MS_MAX = 1_000;

/** Runs in a context of its own, where the runtime can stop it. */
const SEARCH = new Script(`
  for (let at = 0; at < texts.length && found.length < most; at++) {
    if (pattern.test(texts[at])) found.push(at);
  }
`);

export class StoppablePattern {
  readonly #source: string;
  readonly #context: Context;

  /** Throws OperatorError for a pattern that is too long, SyntaxError for one that is none. */
  constructor(source: string, flags: string) {
    if (source.length > PATTERN_LENGTH_MAX) {
      throw new OperatorError(`A pattern has at most ${PATTERN_LENGTH_MAX} characters.`);
    }
    this.#source = source;
    this.#context = createContext({ pattern: new RegExp(source, `${flags}u`) });
  }

  /** `path` is for the error. Throws OperatorError if the search takes too long. */
  test(text: string, path: string): boolean {
    return this.matching([text], path, 1).length > 0;
  }

  /** The indexes of the first `most` texts in which the pattern is. Throws OperatorError. */
  matching(texts: readonly string[], path: string, most: number): readonly number[] {
    const found: number[] = [];
    Object.assign(this.#context, { texts, found, most });
    try {
      SEARCH.runInContext(this.#context, { timeout: SEARCH_MS_MAX });
    } catch (cause) {
      throw new OperatorError(
        `The search for ${this.#source} at ${path} was stopped after ${SEARCH_MS_MAX} ms: ` +
          'the pattern can match this text in too many ways. Use one with fewer repetitions, ' +
          'or --fixed, or --name.',
        { cause },
      );
    }
    return found;
  }
}
