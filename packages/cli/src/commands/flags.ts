import { OUTPUT_FORMATS, type OutputFormat } from '../terminal/print.ts';
import { contextNames, type Propose } from './complete-names.ts';

export type OutputFlag = { output: OutputFormat };
export type ContextFlag = { context: string | undefined };
/** The flags of every command that prints what the API returns. */
export type CommonFlags = OutputFlag & ContextFlag;

const text = (value: string) => value;

export const outputFlag = {
  output: {
    kind: 'enum',
    values: OUTPUT_FORMATS,
    default: 'table',
    brief: 'How the result is printed',
  },
} as const;

export const contextFlag = {
  context: {
    kind: 'parsed',
    parse: text,
    optional: true,
    placeholder: 'name',
    proposeCompletions: contextNames,
    brief: 'The context to use instead of the current one',
  },
} as const;

export const commonFlags = { ...outputFlag, ...contextFlag } as const;
export const outputAlias = { o: 'output' } as const;

/** A flag that may be left out and takes any text. */
export function optionalText(brief: string, placeholder: string, propose?: Propose) {
  const completion = propose && { proposeCompletions: propose };
  return {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief,
    placeholder,
    ...completion,
  } as const;
}

/** A flag that must be given and takes any text. */
export function requiredText(brief: string, placeholder: string, propose?: Propose) {
  const completion = propose && { proposeCompletions: propose };
  return { kind: 'parsed', parse: text, brief, placeholder, ...completion } as const;
}

/** A positional argument that takes any text. */
export function argument(brief: string, placeholder: string, propose?: Propose) {
  const completion = propose && { proposeCompletions: propose };
  return { brief, placeholder, parse: text, ...completion } as const;
}
