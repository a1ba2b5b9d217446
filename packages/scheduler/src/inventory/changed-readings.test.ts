import { describe, expect, it } from 'vitest';
import { changedReadings } from './changed-readings.ts';
import { makeDrive, makeGpu, makeInventory } from './testing/make-inventory.ts';

const GPU = '0000:10:00.0';
const DRIVE = '0000:80:00.0';
const aer = { correctable: '7', nonfatal: '0', fatal: '0' };
const link = { speedGts: 16, maxSpeedGts: 16, width: 16, maxWidth: 16 };
const inventory = (health: Record<string, number>, correctable = '7') =>
  makeInventory({
    devices: [
      makeGpu(GPU, { aer: { ...aer, correctable }, link, health: { temperature_celsius: 40 } }),
      makeDrive(DRIVE, { health }),
    ],
  });

describe('the readings of devices', () => {
  it('are kept of every device of the first inventory, without temperatures', () => {
    const readings = changedReadings(null, inventory({ percentage_used: 3 }));
    expect(readings).toMatchObject([
      { pciAddress: GPU, measured: { link_width: 16, link_speed_gts: 16, correctable_errors: 7 } },
      { pciAddress: DRIVE, measured: { percentage_used: 3 } },
    ]);
    expect(JSON.stringify(readings)).not.toContain('temperature');
  });

  it('are kept only of devices that changed', () => {
    const before = inventory({ percentage_used: 3 });
    expect(changedReadings(before, inventory({ percentage_used: 3 }))).toEqual([]);
    const worn = changedReadings(before, inventory({ percentage_used: 4 }));
    expect(worn.map(({ pciAddress }) => pciAddress)).toEqual([DRIVE]);
    const failing = changedReadings(before, inventory({ percentage_used: 3 }, '8'));
    expect(failing).toMatchObject([{ pciAddress: GPU, measured: { correctable_errors: 8 } }]);
  });

  it('that a device no longer has are a change', () => {
    const readings = changedReadings(inventory({ percentage_used: 3 }), inventory({}));
    expect(readings.map(({ pciAddress }) => pciAddress)).toEqual([DRIVE]);
  });
});
