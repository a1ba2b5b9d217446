import type { Schemas } from '@gantry/sdk';
import { readTags } from '../../../format/tags.ts';

export type CreateVmBody = Schemas['CreateVm'];

/** What the form holds. */
export type VmDraft = {
  name: string;
  type: string;
  location: string;
  image: string;
  /** The names of stored SSH keys. */
  storedKeys: string[];
  /** Public keys, one per line. */
  pastedKeys: string;
  /** Empty for the default network. */
  networkId: string;
  publicAddress: boolean;
  /** `key=value`, separated by commas or line breaks. */
  tags: string;
  userData: string;
};

export const EMPTY_DRAFT: VmDraft = {
  ...{ name: '', type: '', location: '', image: '', storedKeys: [], pastedKeys: '' },
  ...{ networkId: '', publicAddress: true, tags: '', userData: '' },
};

/** The request for a draft. What the draft leaves at its default is left out. */
export function toCreateVmBody(draft: VmDraft): CreateVmBody {
  const { name, type, location, image, storedKeys, networkId, publicAddress, userData } = draft;
  const [first, ...more] = linesOf(draft.pastedKeys);
  const sshKeys = [...storedKeys, ...more];
  const tags = readTags(draft.tags);
  const isDefaultNetwork = networkId === '' && publicAddress;
  return {
    ...{ name, type, location, image },
    ...(first === undefined ? {} : { ssh_public_key: first }),
    ...(sshKeys.length === 0 ? {} : { ssh_keys: sshKeys }),
    ...(isDefaultNetwork
      ? {}
      : {
          network_interfaces: [
            {
              ...(networkId === '' ? {} : { network_id: networkId }),
              ...(publicAddress ? {} : { public_ipv4: { type: 'none' as const } }),
            },
          ],
        }),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(userData.trim() === '' ? {} : { user_data: userData }),
  };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
