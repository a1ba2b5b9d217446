import { truncate, writeFile } from 'node:fs/promises';
import { runProgram } from '@gantry/local/guest/run-program';

/** The file is sparse. What a run writes goes to the run's own overlay. */
const ROOT_BYTES = 16 * 2 ** 30;

/** Writes a folder as a file system. It has a journal, because the machine is reset without warning. */
export async function writeRoot(root: string, file: string): Promise<void> {
  await writeFile(file, '');
  await truncate(file, ROOT_BYTES);
  const options = ['-q', '-t', 'ext4', '-m', '0', '-N', '100000', '-J', 'size=16'];
  const extended = ['-E', 'lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0'];
  await runProgram('mke2fs', [...options, ...extended, '-d', root, file]);
}
