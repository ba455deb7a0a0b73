/**
 * A new znode below another one: its name, its kind, its data and its ACL.
 */
import { useState } from 'react';
import type { AclEntry } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { Dialog } from '../../ui/dialog.js';
import { ProblemNotice } from '../../ui/notice.js';
import { aclValues, isCutAcl } from '../acl/acl-rules.js';
import { childOf, shown, wrongPath } from '../paths.js';

const MODES = [
  { mode: 'persistent', title: 'Persistent' },
  { mode: 'sequential', title: 'Persistent, the server appends ten digits' },
  { mode: 'container', title: 'Container: removed when its last child is gone' },
  { mode: 'ttl', title: 'With a time to live' },
  { mode: 'ttl-sequential', title: 'With a time to live, and ten digits' },
] as const;
type Mode = (typeof MODES)[number]['mode'];
type AclChoice = 'open' | 'parent' | 'mine';

export interface CreateDialogProps {
  readonly parent: string;
  readonly parentAcl: readonly AclEntry[] | null;
  readonly onClose: () => void;
  readonly onCreated: (path: string) => void;
}

export function CreateDialog({ parent, parentAcl, onClose, onCreated }: CreateDialogProps) {
  const { api, index } = useConsole();
  const [name, setName] = useState('');
  const [mode, setMode] = useState<Mode>('persistent');
  const [ttlMinutes, setTtlMinutes] = useState('60');
  const [data, setData] = useState('');
  const [aclChoice, setAclChoice] = useState<AclChoice>('open');
  const [error, setError] = useState<unknown>(null);
  const path = childOf(parent, name.replace(/^\/+/, ''));
  const wrong = name === '' ? 'A name is missing.' : wrongPath(path);
  const isTtl = mode.startsWith('ttl');
  const ttlMs = isTtl ? Math.round(Number(ttlMinutes) * 60_000) : null;
  const isReady = wrong === null && (ttlMs === null || ttlMs >= 1);
  const create = async (): Promise<void> => {
    const acl = {
      open: 'world:anyone:cdrwa',
      parent: aclValues(parentAcl ?? []),
      mine: 'auth::cdrwa',
    }[aclChoice];
    const query = { path, mode, ttlMs, acl, parents: name.includes('/') ? true : null };
    const body = new TextEncoder().encode(data);
    const made = await api.write<{ path: string }>('POST', '/node', { query, body });
    onCreated(made?.path ?? path);
  };
  return (
    <Dialog
      title={`New znode below ${shown(parent)}`}
      onClose={onClose}
      onSubmit={() => {
        if (!isReady) return;
        setError(null);
        create().catch(setError);
      }}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button-primary" disabled={!isReady}>
            Create
          </button>
        </>
      }
    >
      <label className="field">
        <span>Name; with slashes, what is missing on the way is created, too</span>
        <input
          className="input input-code"
          aria-invalid={name !== '' && wrong !== null}
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <label className="field">
        <span>Kind</span>
        <select
          className="input"
          value={mode}
          onChange={(event) => setMode(event.target.value as Mode)}
        >
          {MODES.map((one) => (
            <option key={one.mode} value={one.mode}>
              {one.title}
            </option>
          ))}
        </select>
      </label>
      {isTtl ? (
        <label className="field">
          <span>Minutes to live, once it has no children</span>
          <input
            className="input"
            type="number"
            min="1"
            value={ttlMinutes}
            onChange={(event) => setTtlMinutes(event.target.value)}
          />
        </label>
      ) : null}
      <label className="field">
        <span>Data</span>
        <textarea
          className="input input-code"
          rows={4}
          spellCheck={false}
          value={data}
          onChange={(event) => setData(event.target.value)}
        />
      </label>
      <label className="field">
        <span>ACL</span>
        <select
          className="input"
          value={aclChoice}
          onChange={(event) => setAclChoice(event.target.value as AclChoice)}
        >
          <option value="open">Anyone may do anything</option>
          {parentAcl === null || isCutAcl(parentAcl) ? null : (
            <option value="parent">The same as its parent</option>
          )}
          {index.identities.length === 0 ? null : <option value="mine">Only I</option>}
        </select>
      </label>
      <ProblemNotice error={error} />
    </Dialog>
  );
}
