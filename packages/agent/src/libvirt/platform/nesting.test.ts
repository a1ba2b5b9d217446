import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sysfs } from '../../base/sysfs.ts';
import { writeSysfsTree } from '../../base/sysfs-tree.ts';
import type { Platform } from '../domain-xml/domain-definition.ts';
import { ARM_KVM, emulated, X86_KVM } from '../domain-xml/testing/gpu-server.ts';
import { offersNesting } from './nesting.ts';

describe('a host offers nested virtualization', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'gantry-nesting-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  const offers = (platform: Platform) =>
    offersNesting(platform, { sysfs: new Sysfs(join(root, 'sys')), proc: new Sysfs(root) });

  it.each([
    ['vmx', 'kvm_intel', 'Y', true],
    ['vmx', 'kvm_intel', 'N', false],
    ['svm', 'kvm_amd', '1', true],
    ['svm', 'kvm_amd', '0', false],
    ['vmx', 'kvm', 'Y', false],
    ['svm', 'kvm_intel', 'Y', false],
    ['vmx_other', 'kvm_intel', 'Y', false],
  ])('as its CPU and KVM say: %s with %s nested=%s is %s', async (flag, module, value, offered) => {
    await writeSysfsTree(root, {
      cpuinfo: `processor\t: 0\nflags\t\t: fpu ${flag} sse4_2\n`,
      [`sys/module/${module}/parameters/nested`]: value,
    });
    expect(await offers(X86_KVM)).toBe(offered);
  });

  it('always if it emulates x86, and never on arm64', async () => {
    expect(await offers(emulated(X86_KVM))).toBe(true);
    expect(await offers(ARM_KVM)).toBe(false);
    expect(await offers(emulated(ARM_KVM))).toBe(false);
  });
});
