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

/** Releases before 0.3.0 speak 6 to 17, so that none of them takes this release for its own. */
export const WIRE_VERSION_MIN = 20;
export const WIRE_VERSION_MAX = 21;

/** `upToDate` has a reserved field, so that negotiation has two versions to choose from. */
export const RESERVED_FIELD_SINCE = 21;

export interface WireVersions {
  readonly min: number;
  readonly max: number;
}

/** The highest version that both speak; null when there is none. */
export function commonWireVersion(one: WireVersions, other: WireVersions): number | null {
  const highest = Math.min(one.max, other.max);
  return highest >= Math.max(one.min, other.min) ? highest : null;
}
