import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sysfs } from '../../base/sysfs.ts';
import { writeSysfsTree } from '../../base/sysfs-tree.ts';
import { ARM_KVM, emulated, X86_KVM } from '../domain-xml/testing/gpu-server.ts';
import { offersNesting } from './nesting.ts';

describe('a host offers nested virtualization', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'gantry-nesting-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  it.each([
    ['kvm_intel', 'Y', true],
    ['kvm_intel', 'N', false],
    ['kvm_amd', '1', true],
    ['kvm_amd', '0', false],
    ['kvm', 'Y', false],
  ])('as the parameter of its KVM says: %s nested=%s is %s', async (module, value, offered) => {
    await writeSysfsTree(root, { [`module/${module}/parameters/nested`]: value });
    expect(await offersNesting(X86_KVM, new Sysfs(root))).toBe(offered);
  });

  it('always if it emulates x86, and never on arm64', async () => {
    expect(await offersNesting(emulated(X86_KVM), new Sysfs(root))).toBe(true);
    expect(await offersNesting(ARM_KVM, new Sysfs(root))).toBe(false);
    expect(await offersNesting(emulated(ARM_KVM), new Sysfs(root))).toBe(false);
  });
});
