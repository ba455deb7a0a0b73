/**
 * A log that collects the messages of its warnings. Only for tests.
 */
import type { Log } from '../api/logger.js';
import { ClientLog } from '../defaults/log.js';

export function warningsInto(warnings: string[]): Log {
  const ignore = () => undefined;
  const warn = (_fields: object, message: string) => warnings.push(message);
  const logger = { debug: ignore, info: ignore, error: ignore, warn };
  return new ClientLog({ logger, name: 'test' });
}
