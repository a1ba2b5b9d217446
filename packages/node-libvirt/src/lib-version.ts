/** libvirt packs its version into one number: major * 1,000,000 + minor * 1,000 + release. */
export function renderLibVersion(version: bigint): string {
  return `${version / 1_000_000n}.${(version / 1_000n) % 1_000n}.${version % 1_000n}`;
}
