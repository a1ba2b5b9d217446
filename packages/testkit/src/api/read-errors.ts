/** The parts of an error reply that tests compare. */

export const refusal = (reply: { status: number; body: { code: string } }) => [
  reply.status,
  reply.body.code,
];

/** Returns the status and the name of the first field that was refused. */
export const badField = (reply: { status: number; body: { details?: { field: string }[] } }) => [
  reply.status,
  reply.body.details?.[0]?.field,
];
