/**
 * A digest of a user and a password, by the hash that the server takes. The password goes nowhere.
 */
import { useState } from 'react';
import type { DigestAlg } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { DIGEST_ALGS, digestId } from './acl-rules.js';

const NAMES: Readonly<Record<DigestAlg, string>> = {
  SHA1: 'SHA-1',
  SHA256: 'SHA-256',
  SHA512: 'SHA-512',
};

export interface DigestMakerProps {
  /** The hash to begin with where the server does not tell which one it takes. */
  readonly likely: DigestAlg;
  readonly onMade: (id: string) => void;
}

export function DigestMaker({ likely, onMade }: DigestMakerProps) {
  const { index } = useConsole();
  const [isOpen, setIsOpen] = useState(false);
  const [credential, setCredential] = useState('');
  const [chosen, setChosen] = useState(likely);
  const told = index.digestAlgs?.[0];
  if (!isOpen) {
    return (
      <button type="button" className="button button-small" onClick={() => setIsOpen(true)}>
        From a password …
      </button>
    );
  }
  const isWhole = /^[^:]+:./.test(credential);
  const make = (): void => {
    onMade(digestId(credential, told ?? chosen));
    setIsOpen(false);
    setCredential('');
  };
  return (
    <span className="acl-maker">
      <input
        className="input input-code"
        aria-label="user:password"
        placeholder="user:password"
        autoComplete="off"
        value={credential}
        onChange={({ target }) => setCredential(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          // Otherwise the form around it would save the ACL without the digest.
          event.preventDefault();
          if (isWhole) make();
        }}
      />
      {told === undefined ? <AlgChoice alg={chosen} onChange={setChosen} /> : null}
      <button type="button" className="button button-small" disabled={!isWhole} onClick={make}>
        Take its {NAMES[told ?? chosen]} digest
      </button>
    </span>
  );
}

/** ZooKeeper tells nobody by which hash it proves digests, so the person has to know. */
function AlgChoice(props: {
  readonly alg: DigestAlg;
  readonly onChange: (alg: DigestAlg) => void;
}) {
  const { alg, onChange } = props;
  return (
    <select
      className="input"
      aria-label="Hash that the servers use"
      value={alg}
      onChange={({ target }) => {
        const found = DIGEST_ALGS.find((one) => one === target.value);
        if (found !== undefined) onChange(found);
      }}
    >
      {DIGEST_ALGS.map((one) => (
        <option key={one} value={one}>
          {NAMES[one]}
        </option>
      ))}
    </select>
  );
}
