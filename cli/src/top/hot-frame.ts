/** Draws the hottest paths and clients in `top`: the columns, cut to fit the terminal. Pure. */
import { clean } from '../command/values.js';
import { aligned, type Column, decimal, headOf, sorted } from './columns.js';
import { FIXED_LINES, fitted, footOf, type Line, type Screen, titleOf } from './frame.js';
import type { ClientRow, Hot, PathRow } from './hot.js';

/** The last column may be cut, because it has no bound that fits a terminal. */
export const PATH_COLUMNS: readonly Column<PathRow>[] = [
  { head: 'READ/S', text: (row) => decimal(row.readsPerSecond), key: (row) => row.readsPerSecond },
  {
    head: 'WRITE/S',
    text: (row) => decimal(row.writesPerSecond),
    key: (row) => row.writesPerSecond,
  },
  { head: 'PATH', isLeft: true, text: ({ path }) => clean(path), key: ({ path }) => path },
];

export const CLIENT_COLUMNS: readonly Column<ClientRow>[] = [
  {
    head: 'REQ/S',
    text: (row) => decimal(row.requestsPerSecond),
    key: (row) => row.requestsPerSecond,
  },
  { head: 'MEMBER', text: ({ member }) => String(member), key: ({ member }) => member },
  {
    head: 'SESSION',
    isLeft: true,
    text: ({ session }) => clean(session),
    key: ({ session }) => session,
  },
  {
    head: 'CLIENT',
    isLeft: true,
    text: ({ address }) => clean(addressText(address)),
    key: ({ address }) => addressText(address),
  },
];

/** What is known of the hottest requests, or the sentence that says why nothing is. */
export type HotLook = Hot | { readonly problem: string };

export function pathFrame(look: HotLook, screen: Screen): readonly Line[] {
  return listFrame(look, 'problem' in look ? [] : look.paths, PATH_COLUMNS, screen);
}

export function clientFrame(look: HotLook, screen: Screen): readonly Line[] {
  return listFrame(look, 'problem' in look ? [] : look.clients, CLIENT_COLUMNS, screen);
}

/** At most `height` lines of at most `width` characters. */
function listFrame<Row>(
  look: HotLook,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  screen: Screen,
): readonly Line[] {
  const { height, order } = screen;
  const room = Math.max(1, height - FIXED_LINES);
  const shown = sorted(rows, columns, order).slice(0, room);
  const texts = [
    columns.map((_, at) => headOf(columns, at, order)),
    ...shown.map((row) => columns.map(({ text }) => text(row))),
  ];
  const widths = columns.map((_, at) => Math.max(...texts.map((cells) => cells[at]?.length ?? 0)));
  const [head = '', ...body] = texts.map((cells) => aligned(cells, columns, widths).trimEnd());
  const lines: readonly Line[] = [
    { kind: 'title', text: titleOf('problem' in look ? '' : totalsText(look), screen) },
    { kind: 'head', text: head },
    ...('problem' in look ? [{ kind: 'down', text: clean(look.problem) } as const] : []),
    ...body.map((text) => ({ kind: 'row', text }) as const),
    { kind: 'foot', text: 'problem' in look ? '' : footnote(look, rows.length - shown.length) },
    { kind: 'foot', text: footOf(columns, order) },
  ];
  return fitted(lines, screen);
}

function totalsText({ members }: Hot): string {
  const answering = members.filter(({ answers }) => answers);
  const reads = answering.reduce((sum, { readsPerSecond = 0 }) => sum + readsPerSecond, 0);
  const writes = answering.reduce((sum, { writesPerSecond = 0 }) => sum + writesPerSecond, 0);
  const rates = `${decimal(reads)} reads/s, ${decimal(writes)} writes/s`;
  return `${rates} at ${answering.length} of ${members.length} members`;
}

function footnote({ paths, clients }: Hot, more: number): string {
  if (more > 0) return `No room for ${more} more.`;
  return paths.length + clients.length === 0 ? 'No requests of clients were seen lately.' : '';
}

function addressText(address: string | null): string {
  if (address === null) return 'no longer connected';
  return address === '' ? 'the member itself' : address;
}

/** For scripts, like `clientJson`. */
export function pathJson({ path, readsPerSecond, writesPerSecond }: PathRow) {
  return { path, readsPerS: readsPerSecond, writesPerS: writesPerSecond };
}

export function clientJson({ session, member, address, requestsPerSecond }: ClientRow) {
  return { session, member, address, requestsPerS: requestsPerSecond };
}
