import type { Schemas } from '@gantry/sdk';

type Operation = Schemas['Operation'];

const NAMES: Record<Operation['metadata']['operation_name'], string> = {
  CREATE: 'Create',
  UPDATE: 'Change',
  DELETE: 'Delete',
  START: 'Start',
  STOP: 'Stop',
  RESET: 'Reset',
  MOVE: 'Move',
  RESTORE: 'Restore',
  ATTACH_DISKS: 'Attach disks',
  DETACH_DISKS: 'Detach disks',
};

/** A newer API may have operations that this page does not know. */
export function operationLabel({ metadata }: Operation): string {
  return NAMES[metadata.operation_name] ?? metadata.operation_name;
}

/** Why an operation failed, in the words of the server; empty unless it failed. */
export function failureOf({ state, result }: Operation): string {
  if (state !== 'FAILED') return '';
  const message = result?.['message'];
  return typeof message === 'string' ? message : 'It failed without a reason.';
}
