/**
 * The architecture of the lab's machine, by Node's name. It may be another one than this computer's,
 * because QEMU emulates it in any case.
 */
export function labArchitecture(): string {
  return process.env['GANTRY_LAB_ARCHITECTURE'] || process.arch;
}
