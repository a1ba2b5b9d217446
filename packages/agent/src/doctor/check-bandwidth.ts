import { type Finding, fail, ok } from '../base/finding.ts';
import type { Check } from './doctor-host.ts';
import { findModule, MISSING_MODULE_ADVICE } from './kernel-modules.ts';

/** What the agent uses to pace the packets of a tap. `sch_ingress` also contains `clsact`. */
const MODULES = ['ifb', 'sch_tbf', 'sch_ingress', 'cls_u32', 'act_mirred'];

/** Without a module or `tc`, a host that enforces bandwidth starts no VM. */
export const checkBandwidth: Check = async (host) => {
  if (!host.settings.enforcesBandwidth) return [];
  const check = 'bandwidth';
  const missing: string[] = [];
  for (const name of MODULES) {
    const isLoaded = await host.sysfs.exists(`module/${name}`);
    if (!isLoaded && (await findModule(host, name)) === null) missing.push(name);
  }
  const findings: Finding[] = [];
  if (missing.length > 0) {
    const found = `the kernel ${host.kernel} lacks ${missing.join(', ')}`;
    findings.push(
      fail(check, found, `${MISSING_MODULE_ADVICE}, or unset GANTRY_ENFORCE_BANDWIDTH`),
    );
  }
  try {
    await host.run('tc', ['-V']);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    findings.push(fail(check, reason, 'apt-get install iproute2, which contains tc'));
  }
  return findings.length > 0 ? findings : [ok(check, 'can be enforced')];
};
