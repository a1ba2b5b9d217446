import { unescaped } from '../../../base/mountinfo.ts';

/** The devices and files of /proc/swaps. */
export function parseSwaps(text: string): string[] {
  const [, ...lines] = text.split('\n');
  return lines.flatMap((line) => {
    const name = line.split(/\s/)[0];
    return name ? [unescaped(name)] : [];
  });
}
