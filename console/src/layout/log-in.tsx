/**
 * The form to log in: the user of the admin port, and whom one is in the tree.
 */
import { useState } from 'react';
import type { Credentials } from '../api/credentials.js';
import { ProblemNotice } from '../ui/notice.js';

export interface LogInProps {
  /** What the server said to the credentials before; null if there were none. */
  readonly error: unknown;
  /** Throws if the server does not let them in. */
  readonly signIn: (credentials: Credentials, keep: boolean) => Promise<void>;
}

export function LogIn({ error, signIn }: LogInProps) {
  return (
    <main className="log-in">
      <div className="log-in-card">
        <img src="./icon.svg" alt="" width="32" height="32" />
        <h1>Rookery console</h1>
        <p className="soft">This server asks for a user of its admin port.</p>
        <CredentialsForm error={error} submit="Log in" needsUser onSubmit={signIn} />
      </div>
    </main>
  );
}

export interface CredentialsFormProps {
  readonly error: unknown;
  readonly submit: string;
  readonly needsUser: boolean;
  readonly initial?: Credentials;
  readonly onSubmit: (credentials: Credentials, keep: boolean) => Promise<void>;
}

export function CredentialsForm(props: CredentialsFormProps) {
  const { submit, needsUser, initial, onSubmit } = props;
  const [name, setName] = useState(initial?.user?.replace(/:.*$/s, '') ?? '');
  const [password, setPassword] = useState(initial?.user?.replace(/^[^:]*:/s, '') ?? '');
  const [identities, setIdentities] = useState(initial?.identities.join('\n') ?? '');
  const [keep, setKeep] = useState(false);
  const [error, setError] = useState(props.error);
  const [isBusy, setIsBusy] = useState(false);
  const listed = identities.split('\n').filter((line) => line.trim() !== '');
  const wrong = listed.find((line) => !line.includes(':'));
  const enter = async (): Promise<void> => {
    setIsBusy(true);
    setError(null);
    const user = name === '' ? null : `${name}:${password}`;
    await onSubmit({ user, identities: listed }, keep).catch(setError);
    setIsBusy(false);
  };
  return (
    <form
      className="log-in-form"
      onSubmit={(event) => {
        event.preventDefault();
        enter().catch(reportError);
      }}
    >
      <label className="field">
        <span>User{needsUser ? '' : ' of the admin port'}</span>
        <input
          className="input"
          autoComplete="username"
          required={needsUser}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <label className="field">
        <span>Password</span>
        <input
          className="input"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </label>
      <details open={!needsUser}>
        <summary>Further identities in the tree</summary>
        <label className="field">
          <span>Each line user:password, as zkCli's addauth digest takes it</span>
          <textarea
            className="input input-code"
            rows={2}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={wrong !== undefined}
            value={identities}
            onChange={(event) => setIdentities(event.target.value)}
          />
        </label>
      </details>
      <label className="check">
        <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
        Keep me logged in until this tab is closed
      </label>
      <ProblemNotice error={error} />
      <button
        type="submit"
        className="button button-primary"
        disabled={isBusy || wrong !== undefined}
      >
        {submit}
      </button>
    </form>
  );
}
