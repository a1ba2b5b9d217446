import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const HELPER = '/usr/lib/libvirt/virt-aa-helper';
const ARCH = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const GOLDEN = join(import.meta.dirname, 'golden', ARCH);

/**
 * Returns the rules that libvirt's own helper makes for the domain's AppArmor profile. The files of the
 * domain do not exist here, so the helper knows only what the definition says, as on a host where its own
 * profile does not let it read them.
 */
async function rulesFor(xml: string): Promise<string> {
  const [, uuid = ''] = /<uuid>(.*?)<\/uuid>/.exec(xml) ?? [];
  const helper = spawn(HELPER, ['--dryrun', '--replace', '--uuid', `libvirt-${uuid}`]);
  helper.stdin.end(xml);
  const [out, errors, [code]] = await Promise.all([
    text(helper.stdout),
    text(helper.stderr),
    once(helper, 'exit'),
  ]);
  if (code !== 0) throw new Error(`${HELPER} ended with ${code}: ${errors}`);
  return out + errors;
}

describe('the AppArmor profile of a domain', () => {
  it('lets QEMU open every file of every golden domain, and write to no image', async () => {
    for (const name of await readdir(GOLDEN)) {
      const xml = await readFile(join(GOLDEN, name), 'utf8');
      const rules = await rulesFor(xml);
      const files = [...xml.matchAll(/<source (?:file|dev)='(.*?)'/g)].map(([, path]) => path);
      // A domain whose disks are all volumes of a storage cluster has only its seed.
      expect(files.length, name).toBeGreaterThan(name === 'volumes.xml' ? 0 : 1);
      for (const path of files) expect(rules, name).toMatch(new RegExp(`"${path}" rw?k,`));
      for (const path of files.filter((path) => path?.endsWith('.img'))) {
        expect(rules, name).toContain(`"${path}" rk,`);
        expect(rules, name).toContain(`deny "${path}" w,`);
      }
    }
  });
});
