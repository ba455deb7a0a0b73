/**
 * How the open files of a process are shared out: storage and members first, clients last.
 *
 * A member that runs out of file descriptors cannot open its next log segment and ends. So half of
 * a small limit, 2,048 files of a large one, belong to the databases and the process itself; every
 * other member has its links; strangers at the peer port have a few; clients have what is left.
 * Together they are the limit. Pure. Called by Member.
 */
import { OperatorError } from '../config/operator-error.js';

export interface FileBudget {
  /** Accepted streams at the client port, with those without a session and those about to close. */
  readonly clientStreamsMax: number;
  /** Accepted streams at the peer port that have not said who they are. */
  readonly peerStrangersMax: number;
}

/** A member with a small tree needs at least this many. */
export const OPEN_FILES_MIN = 128;

const RESERVED_FILES = 2048;
const RESERVED_PART = 1 / 2;
/** The link, one that replaces it, one that is dialled, and one that only wakes the dialler. */
const FILES_PER_MEMBER = 4;
const STRANGERS_MAX = 128;
const STRANGERS_PART = 1 / 16;

/** Throws OperatorError where that is too little. */
export function fileBudgetOf(openFilesMax: number, members: number): FileBudget {
  if (!Number.isFinite(openFilesMax)) {
    return { clientStreamsMax: openFilesMax, peerStrangersMax: STRANGERS_MAX };
  }
  const reserved = Math.min(RESERVED_FILES, Math.ceil(openFilesMax * RESERVED_PART));
  const memberFiles = FILES_PER_MEMBER * (members - 1);
  const peerStrangersMax = Math.min(STRANGERS_MAX, Math.floor(openFilesMax * STRANGERS_PART));
  const clientStreamsMax = openFilesMax - reserved - memberFiles - peerStrangersMax;
  if (openFilesMax < OPEN_FILES_MIN || clientStreamsMax < 1) {
    throw new OperatorError(
      `the process may have ${openFilesMax} open files: too few for a member of ${members} ` +
        `and its clients (raise it, for instance by ulimit -n)`,
    );
  }
  return { clientStreamsMax, peerStrangersMax };
}
