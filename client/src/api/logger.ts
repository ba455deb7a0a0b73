/**
 * The log of a client, in which it reports what operators should know. Types only.
 *
 * `Logger` is the interface that the application supplies; loggers of pino and the console have it.
 * `Log` is the interface to which the client and its recipes write, whether or not there is a
 * logger.
 */

/**
 * Each method is called with an object of fields and a message. For the global console and other
 * instances of `console.Console`, the message comes first. An exception that it throws is reported
 * as uncaught.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export type LogLevel = keyof Logger;

/**
 * Each event is one line. `event` is its constant name, such as 'session.lost', and the message is
 * a sentence for people. A line never contains data of znodes, credentials or passwords.
 */
export interface Log {
  debug(event: string, message: string, fields?: object): void;
  info(event: string, message: string, fields?: object): void;
  warn(event: string, message: string, fields?: object): void;
  error(event: string, message: string, fields?: object): void;
}
