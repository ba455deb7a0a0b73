/**
 * A modal dialog: the browser's own element, which keeps the focus inside, closes on Escape and
 * gives the focus back to where it was.
 */
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Icon } from './icon.js';

const FIELDS = '.dialog-body :is(input, select, textarea)';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Buttons, the one that goes ahead last. */
  readonly foot?: ReactNode;
  readonly wide?: boolean;
  /** Enter in a field runs it, if it is given. */
  readonly onSubmit?: () => void;
  readonly children: ReactNode;
}

export function Dialog(props: DialogProps) {
  const { title, onClose, foot, wide = false, onSubmit, children } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = ref.current;
    const before = document.activeElement;
    if (element !== null && !element.open) element.showModal();
    // By itself the browser would choose the button that closes the dialog.
    element?.querySelector<HTMLElement>(FIELDS)?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  const inside = (
    <>
      <header className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <button
          type="button"
          className="button button-quiet button-icon"
          aria-label="Close"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <div className="dialog-body">{children}</div>
      {foot === undefined ? null : <footer className="dialog-foot">{foot}</footer>}
    </>
  );
  return (
    <dialog
      ref={ref}
      className={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {onSubmit === undefined ? (
        inside
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {inside}
        </form>
      )}
    </dialog>
  );
}
