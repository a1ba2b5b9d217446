import type { DoctorFinding } from '@gantry/db/queries/hosts/join-tokens';

const LINE = /^(ok|warn|fail) +([^:]{1,100}): (.*)$/;
const MAX_FINDINGS = 200;
const MAX_MESSAGE_CHARACTERS = 1_000;

/**
 * Reads what `gantry-agent doctor` prints: one finding in each line. A holder of a token can send anything, so other
 * lines, characters that cannot be printed and what is too long are left out.
 */
export function readFindings(text: string): DoctorFinding[] {
  const findings = text.split('\n').flatMap((line): DoctorFinding[] => {
    const [, severity, check, message] = LINE.exec(line.replaceAll(/\p{C}/gu, '')) ?? [];
    if (severity === undefined || check === undefined || message === undefined) return [];
    return [
      {
        severity: severity as DoctorFinding['severity'],
        check,
        message: message.slice(0, MAX_MESSAGE_CHARACTERS),
      },
    ];
  });
  return findings.slice(0, MAX_FINDINGS);
}
