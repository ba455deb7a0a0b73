/**
 * What `/api/v1` answers, as docs/operations/openapi.json describes it.
 *
 * zxids and sessions are strings in hex, times are ms since 1970. Whoever asks for more than is
 * here declares it beside the page that uses it.
 */
export interface ApiIndex {
  /** The user of the admin port; null where it has none. */
  readonly user: string | null;
  readonly identities: readonly { readonly scheme: string; readonly id: string }[];
  readonly readOnly: boolean;
  /**
   * By which hashes a password proves a digest, the one for new ACLs first. Null where the server
   * cannot know it.
   */
  readonly digestAlgs?: readonly DigestAlg[] | null;
  /** The methods of each path, such as `/api/v1/node`. */
  readonly paths: Readonly<Record<string, readonly string[]>>;
}

export type DigestAlg = 'SHA1' | 'SHA256' | 'SHA512';

export type Mode = 'persistent' | 'ephemeral' | 'container' | 'ttl';

export interface Stat {
  readonly czxid: string;
  readonly mzxid: string;
  readonly pzxid: string;
  readonly ctime: number;
  readonly mtime: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: string | null;
  readonly dataLength: number;
  readonly numChildren: number;
}

export interface AclEntry {
  readonly scheme: string;
  readonly id: string;
  /** Some of the letters `cdrwa`. */
  readonly perms: string;
}

export interface Rights {
  readonly read: boolean;
  readonly write: boolean;
  readonly create: boolean;
  readonly delete: boolean;
  readonly admin: boolean;
}

export interface AclOf {
  /** Null if the caller may not see it. */
  readonly acl: readonly AclEntry[] | null;
  readonly may: Rights;
}

export interface NodeFacts {
  readonly path: string;
  readonly mode: Mode | null;
  readonly ttlMs: number | null;
  readonly stat: Stat;
  /** Absent where the server cannot tell, as ZooKeeper cannot before 3.6. */
  readonly descendants?: number | null;
  readonly subtreeBytes?: number | null;
  /** Null if the caller may not see it. */
  readonly acl: readonly AclEntry[] | null;
  readonly may: Rights;
}

export interface ChildFacts {
  readonly name: string;
  /** Null, like `stat`, for what the caller may not read. */
  readonly mode: Mode | null;
  readonly stat: Stat | null;
}

export interface ChildrenPage {
  readonly path: string;
  readonly numChildren: number;
  readonly cversion: number;
  readonly children: readonly ChildFacts[];
  /** The `after` of the next page; null behind the last one. */
  readonly next: string | null;
}

export interface FoundNode {
  readonly path: string;
  /** Null, like `stat`, for what the caller may not read. */
  readonly mode: Mode | null;
  readonly stat: Stat | null;
}

/** The last line of a stream of finds. */
export interface StreamEnd {
  readonly done: true;
  /** Why not everything was gone through; null if it was. */
  readonly cut: string | null;
}

export interface WatchChange {
  readonly kind: 'created' | 'deleted' | 'dataChanged' | 'childrenChanged';
  readonly path: string;
  readonly zxid: string;
}
