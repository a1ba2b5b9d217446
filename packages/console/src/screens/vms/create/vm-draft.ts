import type { Schemas } from '@gantry/sdk';
import { readTags } from '../../../format/tags.ts';

export type CreateVmBody = Schemas['CreateVm'];
/** A disk that is created with the VM. The key tells rows of the form apart. */
export type NewDisk = { key: number; name: string; sizeGib: string };

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
  /** `dynamic`, `none`, or the id of a reserved address. */
  publicAddress: string;
  /** The ids of disks to attach. */
  existingDisks: string[];
  newDisks: NewDisk[];
  /** `key=value`, separated by commas or line breaks. */
  tags: string;
  userData: string;
};

export const EMPTY_DRAFT: VmDraft = {
  ...{ name: '', type: '', location: '', image: '', storedKeys: [], pastedKeys: '' },
  ...{
    networkId: '',
    publicAddress: 'dynamic',
    existingDisks: [],
    newDisks: [],
    tags: '',
    userData: '',
  },
};

/** The request for a draft. What the draft leaves at its default is left out. */
export function toCreateVmBody(draft: VmDraft): CreateVmBody {
  const { name, type, location, image, storedKeys, networkId, publicAddress, userData } = draft;
  const [first, ...more] = linesOf(draft.pastedKeys);
  const sshKeys = [...storedKeys, ...more];
  const tags = readTags(draft.tags);
  const disks = [
    ...draft.existingDisks.map((disk_id) => ({ disk_id })),
    ...draft.newDisks.map((disk) => ({ name: disk.name, size: `${disk.sizeGib}GiB` })),
  ];
  const isDefaultNetwork = networkId === '' && publicAddress === 'dynamic';
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
              ...publicIpv4Of(publicAddress),
            },
          ],
        }),
    ...(disks.length === 0 ? {} : { disks }),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(userData.trim() === '' ? {} : { user_data: userData }),
  };
}

function publicIpv4Of(choice: string): Pick<Schemas['NewNetworkInterface'], 'public_ipv4'> {
  if (choice === 'dynamic') return {};
  return { public_ipv4: choice === 'none' ? { type: 'none' } : { type: 'reserved', id: choice } };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
