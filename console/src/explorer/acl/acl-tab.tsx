/**
 * The ACL of a znode: who may do what, what that means for the person, and the way to change it.
 */
import { useState } from 'react';
import type { AclEntry, NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { Icon } from '../../ui/icon.js';
import { Notice } from '../../ui/notice.js';
import { shown } from '../paths.js';
import { AclBelowDialog } from '../subtree/subtree-dialogs.js';
import { AclForm } from './acl-form.js';
import { PERMISSIONS } from './acl-rules.js';

export interface AclTabProps {
  readonly path: string;
  readonly facts: NodeFacts;
  readonly onChanged: () => Promise<void>;
}

export function AclTab({ path, facts, onChanged }: AclTabProps) {
  const { can } = useConsole();
  const [isEditing, setIsEditing] = useState(false);
  const [isGiving, setIsGiving] = useState(false);
  const { acl, may, stat } = facts;
  if (acl === null) return <p className="empty">You may not see its ACL.</p>;
  if (isEditing) {
    return (
      <AclForm
        path={path}
        facts={facts}
        acl={acl}
        onEnd={(isSaved) => {
          setIsEditing(false);
          if (isSaved) onChanged().catch(reportError);
        }}
      />
    );
  }
  return (
    <div className="acl-tab">
      <AclTable acl={acl} />
      {may.admin ? null : (
        <Notice kind="plain">
          You have no right to change it, and digests are shown without their hash.
        </Notice>
      )}
      {can('PUT', '/node/acl') ? (
        <div className="acl-actions">
          <button
            type="button"
            className="button"
            disabled={!may.admin}
            onClick={() => setIsEditing(true)}
          >
            <Icon name="pencil" /> Change the ACL
          </button>
          <button
            type="button"
            className="button"
            disabled={!may.admin || stat.numChildren === 0}
            title="Make a plan that gives this ACL to everything below this znode"
            onClick={() => setIsGiving(true)}
          >
            <Icon name="shield" /> Give it to everything below …
          </button>
        </div>
      ) : null}
      {isGiving ? (
        <AclBelowDialog path={path} acl={acl} onClose={() => setIsGiving(false)} />
      ) : null}
    </div>
  );
}

function AclTable({ acl }: { readonly acl: readonly AclEntry[] }) {
  return (
    <table className="table acl-table">
      <thead>
        <tr>
          <th>Scheme</th>
          <th>Id</th>
          {PERMISSIONS.map(({ letter, title, tells }) => (
            <th key={letter} title={tells}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {acl.map((entry) => (
          <tr key={`${entry.scheme}:${entry.id}:${entry.perms}`}>
            <td>{shown(entry.scheme)}</td>
            <td className="code acl-id">{shown(entry.id)}</td>
            {PERMISSIONS.map(({ letter, title }) => (
              <td key={letter}>
                {entry.perms.includes(letter) ? (
                  <span className="acl-yes">
                    <Icon name="check" />
                    <span className="visually-hidden">{title}</span>
                  </span>
                ) : (
                  <span className="faint">–</span>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
