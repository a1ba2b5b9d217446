/** As Promise.all, but nothing goes on behind the caller's back: it fails after all have ended. */
export async function allEnded<T extends readonly unknown[]>(work: readonly [...T]) {
  await Promise.allSettled(work);
  return await Promise.all(work);
}
