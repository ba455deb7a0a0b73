/**
 * Versions of what members say to each other, and the one that two members speak.
 *
 * A release speaks every version from WIRE_VERSION_MIN to WIRE_VERSION_MAX, so that members can be
 * restarted one after the other with the next release. Whatever changes the bytes of a message, or
 * adds one, takes the next number: the codec writes and reads it on links of that version or a
 * later one only (`added` in fields.ts, `since` in codec.ts). The table of versions is in
 * docs/architecture/versions.md. A hello is the same in all versions: it is read before there is
 * one.
 */

/**
 * What releases speak that know no range. Their first field of a hello is the only version that
 * they accept, so none of ours may be equal to it.
 */
export const LEGACY_WIRE_VERSION = 6;

export const WIRE_VERSION_MIN = 7;
export const WIRE_VERSION_MAX = 17;

/** Attaches, detaches and forwarded requests name attachments. */
export const ATTACHMENTS_SINCE = 8;
/** Members tell each other their clocks. */
export const CLOCKS_SINCE = 8;
/** Members tell their leader the digests of their states. */
export const DIGESTS_SINCE = 12;
/** A leader tells learners what is durable there: they count the quorum themselves. */
export const LEADER_DURABLE_SINCE = 13;
/** Followers tell their leader that their disk is full; since `ROOM_SINCE` their votes do. */
export const DISK_FULL_SINCE = 14;
/** Members tell each other of their scheduled backups. */
export const BACKUPS_SINCE = 15;
/** Members ask each other what they tell operators. */
export const ASKING_SINCE = 16;
/** Votes say whose disk is full, and which members with a full disk a leader does without. */
export const ROOM_SINCE = 17;

export interface WireVersions {
  readonly min: number;
  readonly max: number;
}

/** The highest version that both speak; null when there is none. */
export function commonWireVersion(one: WireVersions, other: WireVersions): number | null {
  const highest = Math.min(one.max, other.max);
  return highest >= Math.max(one.min, other.min) ? highest : null;
}
