import type { Output } from '../cli-context.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Colours are for terminals, unless https://no-color.org says otherwise. */
export function usesColor(output: Output, env: Environment): boolean {
  return output.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] };
export type Style = keyof typeof CODES;

export function styled(text: string, style: Style | undefined): string {
  if (style === undefined || text === '') return text;
  const [on, off] = CODES[style] as [number, number];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}
