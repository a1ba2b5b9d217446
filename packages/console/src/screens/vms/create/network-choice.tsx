import { Field, Select } from '../../../components/field.tsx';
import type { VmDraft } from './vm-draft.ts';

type NetworkChoiceProps = {
  networks: { id: string; name: string; cidr: string }[];
  draft: VmDraft;
  error: string | undefined;
  onChange(change: Partial<VmDraft>): void;
};

export function NetworkChoice({ networks, draft, error, onChange }: NetworkChoiceProps) {
  return (
    <fieldset className="grid gap-4 sm:grid-cols-2">
      <legend className="mb-2 text-lg font-semibold">Network</legend>
      <Field label="Network" error={error}>
        {(control) => (
          <Select
            {...control}
            value={draft.networkId}
            onChange={({ target }) => onChange({ networkId: target.value })}
          >
            <option value="">The default network</option>
            {networks.map(({ id, name, cidr }) => (
              <option key={id} value={id}>
                {name} ({cidr})
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Public address">
        {(control) => (
          <Select
            {...control}
            value={draft.publicAddress ? 'yes' : 'no'}
            onChange={({ target }) => onChange({ publicAddress: target.value === 'yes' })}
          >
            <option value="yes">Yes, if one is left</option>
            <option value="no">No</option>
          </Select>
        )}
      </Field>
    </fieldset>
  );
}
