import { expect, it } from 'vitest';
import { hashVm } from './content-hash.ts';

const VM = { name: 'trainer', cpuCores: 12, memoryMib: 122_880, sshPublicKey: 'ssh-ed25519 AAAA' };

it('the hash of a VM is the one of earlier versions unless it uses a newer field', () => {
  expect(hashVm(VM)).toBe('Zb1pJOGeNqbyLtGl-0l00D');
  expect(hashVm({ ...VM, sshKeys: [], userData: '' })).toBe(hashVm(VM));
  expect(hashVm({ ...VM, userData: '#cloud-config' })).not.toBe(hashVm(VM));
  expect(hashVm({ ...VM, sshKeys: ['ssh-ed25519 BBBB'] })).not.toBe(hashVm(VM));
});
