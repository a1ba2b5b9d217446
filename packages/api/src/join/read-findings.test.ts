import { describe, expect, it } from 'vitest';
import { readFindings } from './read-findings.ts';

describe('the findings of a server', () => {
  it('are the lines that gantry-agent doctor prints', () => {
    const text = [
      'ok    kernel: 6.1.0',
      'warn  memory: no huge pages -> reserve some: hugepages=64',
      'fail  iommu: it is off -> add intel_iommu=on',
      '',
    ].join('\n');
    expect(readFindings(text)).toEqual([
      { severity: 'ok', check: 'kernel', message: '6.1.0' },
      {
        ...{ severity: 'warn', check: 'memory' },
        message: 'no huge pages -> reserve some: hugepages=64',
      },
      { severity: 'fail', check: 'iommu', message: 'it is off -> add intel_iommu=on' },
    ]);
  });

  it('have no other lines, no control characters and a largest size', () => {
    expect(readFindings('good  kernel: 6.1\nok without a colon\n\u0000')).toEqual([]);
    expect(readFindings('ok    a: \u001b[31mred\u202e')).toMatchObject([{ message: '[31mred' }]);
    expect(readFindings(`ok  a: ${'x'.repeat(5_000)}`)[0]?.message).toHaveLength(1_000);
    expect(readFindings('ok  a: b\n'.repeat(5_000))).toHaveLength(200);
  });
});
