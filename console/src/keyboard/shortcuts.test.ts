import { expect, it } from 'vitest';
import { type KeyPress, type Shortcut, Shortcuts } from './shortcuts.js';

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  hasMod: false,
  hasAlt: false,
  isTyping: false,
  ...more,
});
const shortcut = (keys: string): Shortcut => ({ keys, title: keys, group: '', run: () => {} });

it('matches one key, and two in a row within their time', () => {
  const shortcuts = new Shortcuts();
  shortcuts.register([shortcut('e'), shortcut('g e')]);
  expect(shortcuts.match(press('e'), 0)?.keys).toBe('e');
  expect(shortcuts.match(press('g'), 0)).toBeNull();
  expect(shortcuts.match(press('e'), 1_000)?.keys).toBe('g e');
  expect(shortcuts.match(press('g'), 2_000)).toBeNull();
  expect(shortcuts.match(press('e'), 9_000)?.keys).toBe('e');
});

it('leaves keys to the field that somebody types into', () => {
  const shortcuts = new Shortcuts();
  shortcuts.register([shortcut('e'), shortcut('Mod+k')]);
  expect(shortcuts.match(press('e', { isTyping: true }), 0)).toBeNull();
  expect(shortcuts.match(press('k', { isTyping: true, hasMod: true }), 0)?.keys).toBe('Mod+k');
  expect(shortcuts.match(press('e', { hasMod: true }), 0)).toBeNull();
});

it('lets the newest registration take a key over until it is taken away', () => {
  const shortcuts = new Shortcuts();
  const [old, young] = [shortcut('e'), shortcut('e')];
  shortcuts.register([old]);
  const remove = shortcuts.register([young]);
  expect(shortcuts.match(press('e'), 0)).toBe(young);
  expect(shortcuts.active()).toEqual([young]);
  remove();
  expect(shortcuts.match(press('e'), 0)).toBe(old);
});
