/**
 * Like Promise.all, but waits until all promises have settled before it throws the first error, so
 * that no work continues in the background after the caller has seen the failure.
 */
export async function allSettledOrThrow<T extends readonly unknown[]>(work: readonly [...T]) {
  await Promise.allSettled(work);
  return await Promise.all(work);
}
