/**
 * The children that are selected in the table, and what can be done with all of them.
 */
import { useState } from 'react';
import type { NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { Icon } from '../../ui/icon.js';
import { childOf } from '../paths.js';
import { ExportDialog } from '../subtree/export-dialog.js';
import { DeleteDialog } from '../subtree/subtree-dialogs.js';
import { numberInWords } from '../words.js';

export interface SelectionBarProps {
  readonly parent: string;
  readonly facts: NodeFacts;
  readonly names: readonly string[];
  /** Children may have been deleted. */
  readonly onChanged: () => void;
  readonly onClear: () => void;
}

/** What a dialog works on: the names that were selected when it was opened. */
interface Act {
  readonly kind: 'delete' | 'export';
  readonly names: readonly string[];
}

export function SelectionBar({ parent, facts, names, onChanged, onClear }: SelectionBarProps) {
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  // What came of an act stays to be seen, also when nothing is selected any more.
  return (
    <>
      {names.length === 0 ? null : (
        <Buttons facts={facts} names={names} onClear={onClear} onAct={setAct} />
      )}
      {act?.kind === 'delete' ? (
        <DeleteDialog
          paths={act.names.map((name) => childOf(parent, name))}
          onClose={close}
          onRan={onChanged}
        />
      ) : null}
      {act?.kind === 'export' ? (
        <ExportDialog path={parent} only={act.names} onClose={close} />
      ) : null}
    </>
  );
}

interface ButtonsProps extends Pick<SelectionBarProps, 'facts' | 'names' | 'onClear'> {
  readonly onAct: (act: Act) => void;
}

function Buttons({ facts, names, onClear, onAct }: ButtonsProps) {
  const { can } = useConsole();
  return (
    <span className="selection">
      <output>{numberInWords(names.length)} selected</output>
      {can('DELETE', '/node') ? (
        <button
          type="button"
          className="button button-small"
          disabled={!facts.may.delete}
          onClick={() => onAct({ kind: 'delete', names })}
        >
          <Icon name="trash" /> Delete the selected …
        </button>
      ) : null}
      <button
        type="button"
        className="button button-small"
        onClick={() => onAct({ kind: 'export', names })}
      >
        <Icon name="download" /> Export the selected
      </button>
      <button type="button" className="button button-small button-quiet" onClick={onClear}>
        Clear
      </button>
    </span>
  );
}

export interface SelectAllProps {
  /** How many can be selected: those that are loaded. */
  readonly count: number;
  readonly chosen: number;
  readonly onChange: (isOn: boolean) => void;
}

export function SelectAll({ count, chosen, onChange }: SelectAllProps) {
  const label = `Select the ${numberInWords(count)} that are loaded`;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the field in it has the focus
    <span role="columnheader">
      <input
        type="checkbox"
        aria-label={label}
        title={label}
        checked={count > 0 && chosen === count}
        disabled={count === 0}
        onChange={({ target }) => onChange(target.checked)}
      />
    </span>
  );
}
