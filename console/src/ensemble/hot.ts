/** What `/hot` answers, and its figures as people read them. Pure. */
import { countText } from '../live/format.js';

export interface Hottest {
  readonly members: readonly {
    readonly id: number;
    readonly answers: boolean;
    readonly spanMs?: number;
    readonly readsPerSecond?: number;
    readonly writesPerSecond?: number;
  }[];
  readonly paths: readonly {
    readonly path: string;
    readonly readsPerSecond: number | null;
    readonly writesPerSecond: number | null;
  }[];
  readonly clients: readonly {
    readonly session: string;
    readonly member: number;
    readonly address: string | null;
    readonly requestsPerSecond: number;
  }[];
}

/** With one decimal below ten; `-` for what is not known. */
export function rateText(rate: number | null): string {
  if (rate === null) return '-';
  return rate > 0 && rate < 9.95 ? rate.toFixed(1) : countText(rate);
}

export function totalsText({ members }: Pick<Hottest, 'members'>): string {
  const answering = members.filter(({ answers }) => answers);
  if (!answering.some(({ spanMs = 0 }) => spanMs > 0)) {
    return 'The members have just begun to watch their requests.';
  }
  const reads = answering.reduce((sum, { readsPerSecond = 0 }) => sum + readsPerSecond, 0);
  const writes = answering.reduce((sum, { writesPerSecond = 0 }) => sum + writesPerSecond, 0);
  const silent = members.length - answering.length;
  const of = silent === 0 ? '' : `, without ${silent} that did not answer`;
  return `${rateText(reads)} reads/s and ${rateText(writes)} writes/s in the last seconds${of}.`;
}
