import type { Schemas } from '@gantry/sdk';
import { Field, TextArea } from '../../../components/field.tsx';
import type { VmDraft } from './vm-draft.ts';

type KeyChoiceProps = {
  /** Those of the person first: of two with a name, theirs is used. */
  keys: Schemas['UserSshKey'][];
  draft: VmDraft;
  error: string | undefined;
  onChange(change: Partial<VmDraft>): void;
};

/** The keys that open the VM: stored ones, and pasted ones. */
export function KeyChoice({ keys, draft, error, onChange }: KeyChoiceProps) {
  const { storedKeys, pastedKeys } = draft;
  const toggle = (name: string) =>
    onChange({
      storedKeys: storedKeys.includes(name)
        ? storedKeys.filter((each) => each !== name)
        : [...storedKeys, name],
    });
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 text-lg font-semibold">SSH keys</legend>
      {keys.map(({ id, name, fingerprint }) => (
        <label key={id} className="flex items-center gap-2">
          <input
            type="checkbox"
            className="accent-accent"
            checked={storedKeys.includes(name)}
            onChange={() => toggle(name)}
          />
          <span className="font-medium">{name}</span>
          <span className="truncate font-mono text-xs text-muted">{fingerprint}</span>
        </label>
      ))}
      <Field
        label={keys.length > 0 ? 'Other public keys' : 'Public keys'}
        optional={storedKeys.length > 0}
        hint="One per line, as in ~/.ssh/id_ed25519.pub. With them you log in as root."
        error={error}
      >
        {(control) => (
          <TextArea
            {...control}
            spellCheck={false}
            placeholder="ssh-ed25519 AAAA…"
            value={pastedKeys}
            onChange={({ target }) => onChange({ pastedKeys: target.value })}
          />
        )}
      </Field>
    </fieldset>
  );
}
