/**
 * If the maximum was lowered below the usage, nothing is available, rather than less than nothing.
 */
export function quotaView<Type extends string>({
  type,
  max,
  used,
}: {
  type: Type;
  max: number;
  used: number;
}) {
  return { type, max, used, available: Math.max(0, max - used) };
}
