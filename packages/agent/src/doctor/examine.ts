import { type Finding, type Severity, warn } from '../base/finding.ts';
import { checksOf } from './checks.ts';
import type { DoctorHost } from './doctor-host.ts';

const STATUS: Record<Severity, number> = { ok: 0, warn: 1, fail: 2 };

/** Runs all checks one after the other. A check that throws does not stop the others. */
export async function examine(host: DoctorHost, checks = checksOf(host)): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, check] of checks) {
    try {
      findings.push(...(await check(host)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      findings.push(warn(name, `could not be checked: ${reason}`, 'run this as root'));
    }
  }
  return findings;
}

/** 0: no problems. 1: warnings. 2: failures. */
export function statusOf(findings: readonly Finding[]): number {
  return Math.max(0, ...findings.map(({ severity }) => STATUS[severity]));
}

/** One line each, whatever the kernel or a program has put into it. */
export function renderFindings(findings: readonly Finding[]): string {
  const lines = findings.map(({ check, severity, found, advice }) => {
    const text = advice === '' ? found : `${found} -> ${advice}`;
    return `${severity.padEnd(4)}  ${check}: ${text.replace(/\s+/g, ' ').trim()}\n`;
  });
  return lines.join('');
}
