/** A logger of a client that says nothing: the command tells in its own words what matters. */
export const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
