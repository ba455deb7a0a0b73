/**
 * What a command of the admin port may look at, and what it answers.
 */
import type { Config, ServerAddress } from '../config/config.js';
import type { WordContext } from '../net/four-letter/context.js';
import type { Json } from './json-text.js';

export interface CommandContext extends WordContext {
  readonly config: Config;
  readonly self: ServerAddress;
}

/** The fields of an answer. `command` is added to them, and so is `error` if it is missing. */
export type Facts = Readonly<Record<string, Json>>;
