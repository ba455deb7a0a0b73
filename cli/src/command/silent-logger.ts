/** A silent logger for a client: the command reports what matters in its own words. */
export const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
