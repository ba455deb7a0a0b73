/**
 * Where a client says what an operator should know. Types only.
 *
 * `Logger` is what the application gives: pino's loggers and the console have it. `Log` is what the
 * client and its recipes write to, whether there is a logger or not.
 */

/**
 * Called with an object of fields and a sentence. Given the console, or another `console.Console`,
 * the sentence comes first. What it throws is reported as uncaught.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export type LogLevel = keyof Logger;

/**
 * One line for each event: `event` is its constant name, such as 'session.lost'; the message is a
 * sentence for people. Never holds data of znodes, credentials or passwords.
 */
export interface Log {
  debug(event: string, message: string, fields?: object): void;
  info(event: string, message: string, fields?: object): void;
  warn(event: string, message: string, fields?: object): void;
  error(event: string, message: string, fields?: object): void;
}
