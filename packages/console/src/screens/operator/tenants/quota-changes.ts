/** Returns the maxima of a form that differ from the present ones. The API leaves the others as they are. */
export function quotaChanges(
  quotas: readonly { type: string; max: number }[],
  form: FormData,
): Record<string, number> {
  return Object.fromEntries(
    quotas
      .map(({ type, max }) => ({ type, max, next: Number(form.get(type) ?? max) }))
      .filter(({ max, next }) => next !== max)
      .map(({ type, next }) => [type, next]),
  );
}
