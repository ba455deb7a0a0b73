/**
 * Ensemble levels: what may be written into the log, into checkpoints and onto disks.
 *
 * The level is part of the replicated state. It is raised by a transaction once every configured
 * member knows the new level, and never falls. Whatever a release writes that the release before it
 * cannot read (a kind of transaction, a field of one, a record or format on disk) gets the next
 * level, is written only while `state.level >= LEVEL.thatName`, and is read at any level. The table
 * of levels is in docs/architecture/versions.md.
 */
export const LEVEL = {
  /** What was written before there were levels; also the level of a fresh state. */
  first: 1,
  /**
   * Adds the transaction that raises the level, and format 5 of the meta record, which names it.
   */
  named: 2,
  /** Adds `beginClose`, and the mark in the record of a session that is closing. */
  endsInParts: 3,
  /** A transaction may carry an earlier time than the one before it. */
  timeFalls: 4,
  /** Large values of a checkpoint are in files beside the database, which refers to them. */
  valuesInFiles: 5,
  /** Adds `raiseSequence`. */
  raisedSequences: 6,
} as const;

/** The highest level that this release knows. */
export const LEVEL_MAX: number = Math.max(...Object.values(LEVEL));
