/**
 * Writes znodes, their data and their ACLs: for programs as JSON, for people as text.
 *
 * Zxids and session ids are hex strings with 0x, because JSON's numbers cannot hold them. Data that
 * is UTF-8 is shown as text, all other data as base64 or as a hex dump. Output on a terminal never
 * contains control characters of the data. Pure.
 */
import type { Acl, Stat } from '@rookery/client';
import { permsOf, permsText } from '@rookery/protocol';
import { visible } from '../terminal/visible-text.js';
import type { Json } from './output.js';

/** Servers do not tell containers and TTL znodes from others (ZOOKEEPER-3583). */
type NodeKind = 'persistent' | 'ephemeral';

export function hex(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16)}`;
}

export function kindOf(owner: bigint): NodeKind {
  return owner === 0n ? 'persistent' : 'ephemeral';
}

export function statJson(stat: Stat): { readonly [key: string]: Json } {
  const kind = kindOf(stat.ephemeralOwner);
  return {
    kind,
    ownerSession: kind === 'ephemeral' ? hex(stat.ephemeralOwner) : null,
    czxid: hex(stat.czxid),
    mzxid: hex(stat.mzxid),
    pzxid: hex(stat.pzxid),
    ctime: timeOf(stat.ctime),
    mtime: timeOf(stat.mtime),
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  };
}

/** ISO 8601 in UTC; times outside of any calendar as their milliseconds. */
export function timeOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}

export function statText(stat: Stat): string {
  const { kind, ownerSession, ...fields } = statJson(stat);
  const owner = ownerSession === null ? '' : ` of session ${ownerSession}`;
  const rows = [['kind', `${kind}${owner}`], ...Object.entries(fields)];
  return rows.map(([name, value]) => `${String(name).padEnd(12)} ${value}`).join('\n');
}

/** Null unless the bytes are UTF-8. */
export function textOf(data: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return null;
  }
}

export function dataJson(data: Uint8Array | null): { data: string | null; encoding: string } {
  if (data === null) return { data: null, encoding: 'utf8' };
  const text = textOf(data);
  if (text !== null) return { data: text, encoding: 'utf8' };
  return { data: Buffer.from(data).toString('base64'), encoding: 'base64' };
}

/** Whether it can be written on a terminal as it is. */
function isPrintable(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  return !/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text);
}

/** Text as it is; data that would corrupt a terminal as a hex dump. */
export function dataForTerminal(data: Uint8Array): string {
  const text = textOf(data);
  return text !== null && isPrintable(text) ? text : hexDump(data);
}

/** The data in at most `length` characters on one line. */
export function preview(data: Uint8Array | null, length = 60): string {
  if (data === null) return '';
  const text = textOf(data.subarray(0, 4 * length)) ?? null;
  if (text === null) return `0x${Buffer.from(data.subarray(0, length / 2)).toString('hex')}`;
  const shown = clean(text);
  return [...shown].length > length ? `${[...shown].slice(0, length - 1).join('')}…` : shown;
}

/** On one line, with an escape for every character that deceives. */
export function clean(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

const ROW_BYTES = 16;

function hexDump(data: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < data.length; at += ROW_BYTES) {
    const row = Buffer.from(data.subarray(at, at + ROW_BYTES));
    const bytes = [...row].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = row.toString('latin1').replace(/[^ -~]/g, '.');
    rows.push(`${at.toString(16).padStart(8, '0')}  ${bytes.padEnd(3 * ROW_BYTES)} ${text}`);
  }
  return rows.join('\n');
}

/** In the form that zkCli.sh takes: `scheme:id:perms`. */
export function aclText({ scheme, id, perms }: Acl): string {
  return `${scheme}:${id}:${permsText(perms)}`;
}

/** The entries of `world:anyone:cdrwa,digest:user:hash:r`; null if it is not a list of them. */
export function parseAcl(text: string): readonly Acl[] | null {
  const entries = text.split(',').map((entry) => {
    const first = entry.indexOf(':');
    const last = entry.lastIndexOf(':');
    const letters = entry.slice(last + 1);
    if (first < 1 || !/^[cdrwa]+$/.test(letters)) return null;
    // `auth::cdrwa` has no id; `world:cdrwa` has no second colon and is a mistake.
    return last === first
      ? null
      : {
          scheme: entry.slice(0, first),
          id: entry.slice(first + 1, last),
          perms: permsOf(letters),
        };
  });
  const known = entries.filter((entry) => entry !== null);
  return known.length === entries.length ? known : null;
}

export function aclJson(acl: readonly Acl[]): readonly { [key: string]: Json }[] {
  return acl.map(({ scheme, id, perms }) => ({ scheme, id, perms: permsText(perms) }));
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const;

/** For people: "1 byte", "2 bytes", and the same with another noun. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** For people: 1.5 KiB. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${UNITS[unit]}`;
}
