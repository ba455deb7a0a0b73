/**
 * Defines the ensemble levels, which limit what may be written into the log, into checkpoints and
 * onto disks.
 *
 * The level is part of the replicated state. It is raised by a transaction once every configured
 * member knows the new level, and never falls. Anything a release writes that the release before it
 * cannot read (a kind of transaction, a field of one, a record or format on disk) gets the next
 * level, is written only while `state.level >= LEVEL.thatName`, and is read at any level. The table
 * of levels is in docs/architecture/versions.md.
 */
export const LEVEL = {
  /** The level of a fresh state. Releases before 0.3.0 had levels 1 to 6. */
  first: 10,
  /** The record of a checkpoint has a reserved field, so that a level can be raised and held. */
  reservedField: 11,
} as const;

/** The highest level that this release knows. */
export const LEVEL_MAX: number = Math.max(...Object.values(LEVEL));
