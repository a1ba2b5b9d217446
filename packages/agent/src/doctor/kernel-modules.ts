import type { DoctorHost } from './doctor-host.ts';

export const MISSING_MODULE_ADVICE =
  "install your distribution's own kernel, or its linux-modules-extra package";

/** Returns how the running kernel has a module: built in, or as a file to load. Null: it does not have it. */
export async function findModule(
  { files, kernel }: Pick<DoctorHost, 'files' | 'kernel'>,
  name: string,
): Promise<'built in' | 'loadable' | null> {
  const has = async (list: string) =>
    ((await files.text(`lib/modules/${kernel}/${list}`)) ?? '').includes(`/${name}.ko`);
  if (await has('modules.builtin')) return 'built in';
  return (await has('modules.dep')) ? 'loadable' : null;
}
