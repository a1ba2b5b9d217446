import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';

/** How the CPUs and the memory of a host are divided between the host itself and its VMs. */
export type CapacitySettings = {
  /**
   * What one core of a VM type is. `thread`: a hardware thread. `core`: a physical core with all its
   * threads.
   */
  core: 'thread' | 'core';
  /**
   * Physical cores of each NUMA node that the host keeps. Null: one of each node that has at least
   * four.
   */
  hostCores: number | null;
  /** Memory of the whole host that it keeps; each NUMA node with memory provides an equal part. */
  hostMemoryGib: number;
  /** What the host keeps of each NUMA node in addition. */
  hostMemoryPercent: number;
};

const DEFAULTS = { hostMemoryGib: 8, hostMemoryPercent: 2 };

export const DEFAULT_CAPACITY: CapacitySettings = { core: 'thread', hostCores: null, ...DEFAULTS };

export function readCapacitySettings(reader: SettingsReader): CapacitySettings {
  const core = reader.text('GANTRY_CORE', 'thread');
  if (core !== 'thread' && core !== 'core') {
    throw new SettingsError(`GANTRY_CORE must be thread or core, not "${core}"`);
  }
  const integer = (name: string, fallback: number, max: number) =>
    reader.integer(name, { fallback, min: 0, max });
  const hasHostCores = reader.optional('GANTRY_HOST_CORES') !== undefined;
  return {
    core,
    hostCores: hasHostCores ? integer('GANTRY_HOST_CORES', 0, 1_024) : null,
    hostMemoryGib: integer('GANTRY_HOST_MEMORY_GIB', DEFAULTS.hostMemoryGib, 100_000),
    hostMemoryPercent: integer('GANTRY_HOST_MEMORY_PERCENT', DEFAULTS.hostMemoryPercent, 90),
  };
}
