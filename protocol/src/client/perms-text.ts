/**
 * The permissions of an ACL as letters: `cdrwa`, as ZooKeeper's zkCli writes them. Pure.
 */
import { Perms } from './opcodes.js';

const LETTERS = [
  ['c', Perms.create],
  ['d', Perms.delete],
  ['r', Perms.read],
  ['w', Perms.write],
  ['a', Perms.admin],
] as const;

/** The letters of the permissions, in the order `cdrwa`. */
export function permsText(perms: number): string {
  return LETTERS.map(([letter, bit]) => ((perms & bit) === 0 ? '' : letter)).join('');
}

/** The permissions of the letters, in any order; other characters are ignored. */
export function permsOf(letters: string): number {
  return LETTERS.reduce((all, [letter, bit]) => (letters.includes(letter) ? all | bit : all), 0);
}
