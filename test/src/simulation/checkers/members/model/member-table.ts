/** What a checker keeps for each member, by its id. Members are numbered from 1. */
import type { PeerId } from '@rookery/protocol';

export class MemberTable<T> {
  /** In order of the ids. */
  readonly all: readonly T[];

  constructor(members: number, make: (id: PeerId) => T) {
    this.all = Array.from({ length: members }, (_, index) => make(index + 1));
  }

  of(id: PeerId): T {
    const entry = this.all[id - 1];
    if (entry === undefined) throw new Error(`there is no member ${id}`);
    return entry;
  }

  get quorum(): number {
    return Math.floor(this.all.length / 2) + 1;
  }
}
