import { Field, Select } from '../../../components/field.tsx';
import type { VmDraft } from './vm-draft.ts';

type NetworkChoiceProps = {
  networks: { id: string; name: string; cidr: string }[];
  /** The reserved addresses of the location that no VM has. */
  addresses: { id: string; name: string; address: string }[];
  draft: VmDraft;
  problem(...fields: string[]): string | undefined;
  onChange(change: Partial<VmDraft>): void;
};

const INTERFACE = 'network_interfaces.0';

export function NetworkChoice(props: NetworkChoiceProps) {
  const { networks, addresses, draft, problem, onChange } = props;
  return (
    <fieldset className="grid gap-4 sm:grid-cols-2">
      <legend className="mb-2 text-lg font-semibold">Network</legend>
      <Field label="Network" error={problem(`${INTERFACE}.network_id`, `${INTERFACE}.subnet_id`)}>
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
      <Field label="Public address" error={problem(`${INTERFACE}.public_ipv4`)}>
        {(control) => (
          <Select
            {...control}
            value={draft.publicAddress}
            onChange={({ target }) => onChange({ publicAddress: target.value })}
          >
            <option value="dynamic">Yes, if one is left</option>
            {addresses.map(({ id, name, address }) => (
              <option key={id} value={id}>
                {name} ({address}), reserved
              </option>
            ))}
            <option value="none">No</option>
          </Select>
        )}
      </Field>
    </fieldset>
  );
}
