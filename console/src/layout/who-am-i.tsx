/**
 * Who one is to the server and in the tree, and the way to be somebody else.
 */
import { useState } from 'react';
import { useConsole } from '../console-context.js';
import { Dialog } from '../ui/dialog.js';
import { Icon } from '../ui/icon.js';
import { CredentialsForm } from './log-in.js';

export function WhoAmI() {
  const { index, api, signIn, signOut } = useConsole();
  const [isOpen, setIsOpen] = useState(false);
  const names = [...new Set(index.identities.map(({ id }) => id))];
  const label = index.user ?? (names.length === 0 ? 'Anyone' : names.join(', '));
  return (
    <>
      <button
        type="button"
        className="button button-quiet bar-user"
        title="Who I am"
        onClick={() => setIsOpen(true)}
      >
        <Icon name="user" />
        <span>{label}</span>
      </button>
      {isOpen ? (
        <Dialog title="Who I am" onClose={() => setIsOpen(false)}>
          <p className="soft">
            {index.user === null
              ? 'The admin port asks for no user.'
              : `The admin port knows you as ${index.user}.`}{' '}
            In the tree you are{' '}
            {names.length === 0 ? 'anyone' : names.map((name) => `digest ${name}`).join(' and ')}.
          </p>
          <CredentialsForm
            error={null}
            submit="Continue as these"
            needsUser={false}
            initial={api.credentials}
            onSubmit={async (credentials, keep) => {
              await signIn(credentials, keep);
              setIsOpen(false);
            }}
          />
          <button type="button" className="button" onClick={signOut}>
            Log out
          </button>
        </Dialog>
      ) : null}
    </>
  );
}
