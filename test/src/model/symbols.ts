/**
 * What the model cannot know: zxids, times and session ids. Each is a symbol to which the run gives
 * a value. The numbers are those of the sequence: its transactions, its sessions; 0 stands for
 * none.
 */

export class ZxidOf {
  readonly kind = 'zxid';
  readonly txn: number;

  constructor(txn: number) {
    this.txn = txn;
  }
}

/** The time of a transaction, by the leader's clock. */
export class TimeOf {
  readonly kind = 'time';
  readonly txn: number;

  constructor(txn: number) {
    this.txn = txn;
  }
}

export class IdOf {
  readonly kind = 'session';
  readonly session: number;

  constructor(session: number) {
    this.session = session;
  }
}

/** A value that depends on other sequences that run on the same members. */
export class Anything {
  readonly kind = 'anything';
}
