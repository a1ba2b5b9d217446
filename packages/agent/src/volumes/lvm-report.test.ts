import { describe, expect, it } from 'vitest';
import { parseLogicalVolumes, parseRows } from './lvm-report.ts';

describe('the output of lvs', () => {
  it('is parsed as LVM 2.03 writes it', () => {
    const printed = `  {
      "report": [
          {
              "lv": [
                  {"lv_name":"gantry-a", "lv_size":"104857600", "lv_tags":"gantry.disk,gantry.whole", "lv_device_open":"open"},
                  {"lv_name":"root", "lv_size":"1073741824", "lv_tags":"", "lv_device_open":""},
                  {"lv_name":"off", "lv_size":"4194304", "lv_tags":"", "lv_device_open":"unknown"}
              ]
          }
      ]
  }
`;
    expect(parseLogicalVolumes(printed)).toEqual([
      ...[
        {
          name: 'gantry-a',
          sizeBytes: 104_857_600,
          tags: ['gantry.disk', 'gantry.whole'],
          isOpen: true,
        },
      ],
      { name: 'root', sizeBytes: 1_073_741_824, tags: [], isOpen: false },
      { name: 'off', sizeBytes: 4_194_304, tags: [], isOpen: false },
    ]);
  });

  it('is empty for a volume group without volumes', () => {
    expect(parseRows('{"report":[{"lv":[]}]}')).toEqual([]);
  });

  it.each(['', 'text', '[]', '{}', '{"report":1}'])('is an error if it is %j', (printed) => {
    expect(() => parseRows(printed)).toThrow();
  });
});
