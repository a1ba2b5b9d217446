import { ApiError } from '@gantry/sdk';

/** Errors without a list of fields that are about one field. */
const FIELD_OF_CODE: Record<string, string> = {
  name_taken: 'name',
  unknown_type: 'type',
  type_not_in_location: 'type',
  unknown_location: 'location',
  unknown_image: 'image',
};

/** What the server found wrong with one of the fields or its members. */
export function fieldProblem(error: unknown, fields: readonly string[]): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (fields.includes(FIELD_OF_CODE[error.code] ?? '')) return error.message;
  return error.fields.find(({ field }) => fields.some((name) => isWithin(field, name)))?.reason;
}

/** Whether the error is about none of the fields that the form shows, so that it has to be shown elsewhere. */
export function isGeneral(error: unknown, fields: readonly string[]): boolean {
  return error !== null && fieldProblem(error, fields) === undefined;
}

function isWithin(field: string, name: string): boolean {
  return field === name || field.startsWith(`${name}.`);
}
