/**
 * The help of the keyboard: every key that does something on the present page.
 */
import { Dialog } from '../ui/dialog.js';
import type { Shortcut } from './shortcuts.js';
import { useRegistry } from './use-shortcuts.js';

export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  const shortcuts = useRegistry().active();
  const groups = [...new Set(shortcuts.map(({ group }) => group))];
  return (
    <Dialog title="Keyboard" onClose={onClose} wide>
      <div className="key-groups">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {shortcuts
                .filter((shortcut) => shortcut.group === group)
                .map((shortcut) => (
                  <KeyRow key={shortcut.keys} shortcut={shortcut} />
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

function KeyRow({ shortcut: { keys, title } }: { readonly shortcut: Shortcut }) {
  return (
    <div className="key-row">
      <dt>
        <Keys keys={keys} />
      </dt>
      <dd>{title}</dd>
    </div>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Mod: 'Ctrl',
  ' ': 'Space',
};

/** Keys as they are printed on a keyboard. */
export function Keys({ keys }: { readonly keys: string }) {
  const strokes = keys === ' ' ? [' '] : keys.split(' ');
  return strokes.map((stroke, index) => (
    // The strokes of one shortcut never change their order.
    // biome-ignore lint/suspicious/noArrayIndexKey: the place is what tells two equal strokes apart
    <kbd key={index}>
      {(stroke.length > 1 ? stroke.split('+') : [stroke])
        .map((name) => NAMES[name] ?? name)
        .join(' ')}
    </kbd>
  ));
}
