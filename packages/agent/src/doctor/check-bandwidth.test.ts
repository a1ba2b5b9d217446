import { afterEach, describe, expect, it } from 'vitest';
import { checkBandwidth } from './check-bandwidth.ts';
import { doctorHosts } from './testing/doctor-hosts.ts';

const { make, remove } = doctorHosts();
afterEach(remove);

const settings = { enforcesBandwidth: true };
const DIRECTORY = 'lib/modules/6.8.0-48-generic';
const MODULES = ['ifb', 'sch_tbf', 'sch_ingress', 'cls_u32', 'act_mirred'];
const listed = (names: readonly string[]) =>
  names.map((name) => `kernel/net/sched/${name}.ko.zst:`).join('\n');

describe('bandwidth on a host that enforces it', () => {
  it('needs every module: loaded, built in or to be loaded', async () => {
    const [ifb, tbf, ...others] = MODULES;
    const host = await make({
      settings,
      sys: { [`module/${ifb}/refcnt`]: '0' },
      root: {
        [`${DIRECTORY}/modules.builtin`]: `kernel/net/sched/${tbf}.ko`,
        [`${DIRECTORY}/modules.dep`]: listed(others),
      },
    });
    expect(await checkBandwidth(host)).toMatchObject([{ severity: 'ok' }]);
  });

  it.each(MODULES)('fails without %s and says what to install', async (missing) => {
    const dep = listed(MODULES.filter((name) => name !== missing));
    const host = await make({ settings, root: { [`${DIRECTORY}/modules.dep`]: dep } });
    expect(await checkBandwidth(host)).toMatchObject([
      {
        severity: 'fail',
        found: `the kernel 6.8.0-48-generic lacks ${missing}`,
        advice: expect.stringContaining('linux-modules-extra'),
      },
    ]);
  });

  it('fails without tc', async () => {
    const host = await make({
      settings,
      root: { [`${DIRECTORY}/modules.dep`]: listed(MODULES) },
      run: async (program) => {
        throw new Error(`${program} is not installed`);
      },
    });
    expect(await checkBandwidth(host)).toMatchObject([
      {
        severity: 'fail',
        found: 'tc is not installed',
        advice: expect.stringContaining('iproute2'),
      },
    ]);
  });
});

it('bandwidth is not checked on a host that does not enforce it', async () => {
  expect(await checkBandwidth(await make())).toEqual([]);
});
