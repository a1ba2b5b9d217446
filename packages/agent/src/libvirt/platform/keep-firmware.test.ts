import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepFirmware } from './keep-firmware.ts';

describe('the firmware of VMs', () => {
  let root: string;
  let firmware: { loader: string; nvramTemplate: string };
  const keep = () => keepFirmware(firmware, join(root, 'firmware'));

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'gantry-firmware-'));
    firmware = { loader: join(root, 'CODE.fd'), nvramTemplate: join(root, 'VARS.fd') };
    await writeFile(firmware.loader, 'code 1');
    await writeFile(firmware.nvramTemplate, Buffer.alloc(1 << 20));
  });
  afterEach(() => rm(root, { recursive: true }));

  it("is a copy that stays the same when the package's files are replaced", async () => {
    const before = await keep();
    await writeFile(firmware.loader, 'code 2');
    const after = await keep();
    expect(await readFile(before.loader, 'utf8')).toBe('code 1');
    expect(await readFile(after.loader, 'utf8')).toBe('code 2');
    expect(after.nvramTemplate).toBe(before.nvramTemplate);
  });

  it('is copied once for each content', async () => {
    const { loader } = await keep();
    const { ino } = await stat(loader);
    expect((await keep()).loader).toBe(loader);
    expect((await stat(loader)).ino).toBe(ino);
    expect(await readdir(join(root, 'firmware'))).toHaveLength(2);
  });

  it('can be read by the user of QEMU, who can only pass through the directory', async () => {
    const { loader } = await keep();
    expect((await stat(loader)).mode & 0o777).toBe(0o644);
    expect((await stat(join(root, 'firmware'))).mode & 0o777).toBe(0o711);
  });

  it('is copied again if a copy was interrupted', async () => {
    await keep();
    await rm(join(root, 'firmware'), { recursive: true });
    await keep();
    await writeFile(join(root, 'firmware', 'partial'), 'half');
    await writeFile(firmware.loader, 'code 3');
    expect(await readFile((await keep()).loader, 'utf8')).toBe('code 3');
  });
});
