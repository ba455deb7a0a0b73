/**
 * Changing an ACL: entries by a form, what they would let the person do, a warning before one locks
 * oneself out, and the version that was read.
 */
import { useState } from 'react';
import type { AclEntry, NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { Icon } from '../../ui/icon.js';
import { Notice, ProblemNotice } from '../../ui/notice.js';
import {
  aclValues,
  DIGEST_ALGS,
  likelyAlg,
  PERMISSIONS,
  rightsUnder,
  SCHEMES,
  wrongAcl,
  wrongEntry,
} from './acl-rules.js';
import { DigestMaker } from './digest-maker.js';

/** An entry with a key of its own, because ids change while they are typed. */
interface Line {
  readonly key: number;
  readonly entry: AclEntry;
}

export interface AclFormProps {
  readonly path: string;
  readonly facts: NodeFacts;
  readonly acl: readonly AclEntry[];
  readonly onEnd: (isSaved: boolean) => void;
}

export function AclForm({ path, facts, acl, onEnd }: AclFormProps) {
  const { api, index } = useConsole();
  const [lines, setLines] = useState<readonly Line[]>(() =>
    acl.map((entry, key) => ({ key, entry })),
  );
  const [error, setError] = useState<unknown>(null);
  const [isSure, setIsSure] = useState(false);
  const entries = lines.map(({ entry }) => entry);
  const wrong = wrongAcl(entries, acl);
  const { user, identities } = api.credentials;
  const mine = [...(user === null ? [] : [user]), ...identities];
  const kept = rightsUnder(entries, mine, index.digestAlgs ?? DIGEST_ALGS);
  const locksOut = facts.may.admin && !kept.admin;
  const save = async (): Promise<void> => {
    const query = { path, acl: aclValues(entries) };
    await api.write('PUT', '/node/acl', { query, match: facts.stat.aversion });
    onEnd(true);
  };
  return (
    <form
      className="acl-tab"
      onSubmit={(event) => {
        event.preventDefault();
        setError(null);
        save().catch(setError);
      }}
    >
      {lines.map(({ key, entry }) => (
        <EntryFields
          key={key}
          entry={entry}
          before={acl}
          onChange={(changed) =>
            setLines(lines.map((line) => (line.key === key ? { key, entry: changed } : line)))
          }
          onRemove={() => setLines(lines.filter((line) => line.key !== key))}
        />
      ))}
      <div>
        <button
          type="button"
          className="button button-small"
          onClick={() => {
            const key = Math.max(0, ...lines.map((line) => line.key)) + 1;
            setLines([...lines, { key, entry: { scheme: 'digest', id: '', perms: 'r' } }]);
          }}
        >
          <Icon name="plus" /> Add an entry
        </button>
      </div>
      {locksOut && wrong === null ? (
        <Notice kind="warn">
          As far as can be told here, you could not change this ACL again afterwards.
          <label className="check">
            <input type="checkbox" checked={isSure} onChange={() => setIsSure(!isSure)} />
            That is what I want
          </label>
        </Notice>
      ) : null}
      <ProblemNotice error={error} />
      <footer className="edit-foot">
        <span className="soft">{wrong}</span>
        <button type="button" className="button" onClick={() => onEnd(false)}>
          Cancel
        </button>
        <button
          type="submit"
          className="button button-primary"
          disabled={wrong !== null || (locksOut && !isSure)}
        >
          Save the ACL
        </button>
      </footer>
    </form>
  );
}

interface EntryFieldsProps {
  readonly entry: AclEntry;
  /** The ACL as the server has it. */
  readonly before: readonly AclEntry[];
  readonly onChange: (entry: AclEntry) => void;
  readonly onRemove: () => void;
}

function EntryFields({ entry, before, onChange, onRemove }: EntryFieldsProps) {
  const { scheme, id, perms } = entry;
  const schemes = SCHEMES.some((one) => one === scheme) ? SCHEMES : [...SCHEMES, scheme];
  const wrong = wrongEntry(entry, before);
  return (
    <fieldset className="acl-entry">
      <legend className="visually-hidden">Entry {scheme}</legend>
      <select
        className="input"
        aria-label="Scheme"
        value={scheme}
        onChange={({ target }) => {
          const fixed = { world: 'anyone', auth: '' }[target.value];
          onChange({ ...entry, scheme: target.value, id: fixed ?? (scheme === 'world' ? '' : id) });
        }}
      >
        {schemes.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <input
        className="input input-code"
        aria-label="Id"
        aria-invalid={wrong !== null}
        title={wrong ?? undefined}
        placeholder={scheme === 'auth' ? 'my identities' : 'id'}
        disabled={scheme === 'auth' || scheme === 'world'}
        spellCheck={false}
        value={id}
        onChange={({ target }) => onChange({ ...entry, id: target.value })}
      />
      {scheme === 'digest' ? (
        <DigestMaker
          likely={likelyAlg(before)}
          onMade={(made) => onChange({ ...entry, id: made })}
        />
      ) : null}
      <span className="acl-perms">
        {PERMISSIONS.map(({ letter, title, tells }) => (
          <label key={letter} className="check" title={tells}>
            <input
              type="checkbox"
              checked={perms.includes(letter)}
              onChange={({ target }) =>
                onChange({
                  ...entry,
                  perms: target.checked ? `${perms}${letter}` : perms.replaceAll(letter, ''),
                })
              }
            />
            {title}
          </label>
        ))}
      </span>
      <button
        type="button"
        className="button button-quiet button-icon button-small"
        aria-label="Remove this entry"
        onClick={onRemove}
      >
        <Icon name="trash" />
      </button>
    </fieldset>
  );
}
