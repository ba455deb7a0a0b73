/**
 * What a file in memory holds, sector by sector, and which sectors a loss of power may undo.
 *
 * A sector that was put is a new array and never changed again, so a copy shares all of them.
 * Sectors that were never written read as zeros and take no memory. Used by memory-log.ts only.
 */

export const SECTOR_BYTES = 512;

type Sectors = Map<number, Uint8Array>;

const ZEROS = new Uint8Array(SECTOR_BYTES);

export class MemorySectors {
  size = 0;
  #sectors: Sectors = new Map();
  /** Left by a process before: what each sector held before that. Not written since. */
  #atRisk = new Map<number, Uint8Array>();
  /** Left by this process as it died: at risk from the next one on. */
  #left = new Map<number, Uint8Array>();

  read(offset: number, length: number): Uint8Array {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)));
    const end = offset + bytes.length;
    for (const { index, from, to } of pieces(offset, end)) {
      const sector = this.#sectors.get(index);
      if (sector !== undefined)
        bytes.set(sector.subarray(from, to), sectorAt(index, from) - offset);
    }
    return bytes;
  }

  /** Durably, unless `lands` leaves out a sector: what is written of a dying process is at risk. */
  write(offset: number, bytes: Uint8Array, lands?: () => boolean): void {
    const end = offset + bytes.length;
    for (const { index, from, to } of pieces(offset, end)) {
      if (lands?.() === false) continue;
      const start = sectorAt(index, from) - offset;
      const current = this.#sectors.get(index) ?? ZEROS;
      const sector = Uint8Array.from(current);
      sector.set(bytes.subarray(start, start + to - from), from);
      this.#sectors.set(index, sector);
      // What was at risk stays so: a loss of power leaves what was durable before both.
      if (lands !== undefined) this.#left.set(index, this.#atRisk.get(index) ?? current);
      this.#atRisk.delete(index);
      this.size = Math.max(this.size, sectorAt(index, to));
    }
  }

  grow(size: number): void {
    this.size = Math.max(this.size, size);
  }

  /** All of it is another, durably. */
  replace(bytes: Uint8Array): void {
    this.#sectors = new Map();
    this.#atRisk = new Map();
    this.#left = new Map();
    this.size = 0;
    this.write(0, bytes);
    this.size = bytes.length;
  }

  /** After a crash: of the sectors that are at risk, `isLost` chooses. */
  survive(isLost: () => boolean): MemorySectors {
    const next = new MemorySectors();
    next.size = this.size;
    next.#sectors = new Map(this.#sectors);
    next.#atRisk = new Map(this.#left);
    for (const [index, before] of this.#atRisk) {
      if (isLost()) next.#sectors.set(index, before);
      else next.#atRisk.set(index, before);
    }
    return next;
  }
}

function sectorAt(index: number, within: number): number {
  return index * SECTOR_BYTES + within;
}

/** What of each sector lies between the two offsets. */
function* pieces(offset: number, end: number) {
  for (let at = offset; at < end; ) {
    const index = Math.floor(at / SECTOR_BYTES);
    const from = at - sectorAt(index, 0);
    const to = Math.min(SECTOR_BYTES, end - sectorAt(index, 0));
    yield { index, from, to };
    at = sectorAt(index, to);
  }
}
