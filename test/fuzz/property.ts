import fc from 'fast-check';
import type { Plan } from './requests.ts';
import { SEED } from './settings.ts';
import type { Exchange } from './subject.ts';

type Options<Input> = {
  arbitrary: fc.Arbitrary<Input>;
  seed: number;
  runs: number;
  /** Throws what it finds. */
  examine: (input: Input) => Promise<void>;
};

/** Looks for an input that fails, shrinks it, and tells how to have it again. */
export async function holds<Input>({ arbitrary, seed, runs, examine }: Options<Input>) {
  const result = await fc.check(fc.asyncProperty(arbitrary, examine), {
    ...{ seed, numRuns: runs, endOnFailure: false },
  });
  if (!result.failed) return;
  const { errorInstance, numRuns, numShrinks } = result;
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  throw new Error(
    `${reason}\n(run ${numRuns}, shrunk ${numShrinks} times; again with GANTRY_FUZZ_SEED=${SEED})`,
  );
}

/** Raised with the whole exchange, so that a failure reads like a bug report. */
export function fail(problems: string[], { sent, status, text }: Exchange): never {
  throw new Error(
    [
      `${problems.map(shortened).join('\n')}`,
      describe(sent),
      `reply: ${status} ${shortened(text)}`,
    ].join('\n'),
  );
}

function describe({ method, path, query, bearer, headers, body }: Plan): string {
  return [
    `request: ${method} ${shortened(path + query)} as ${bearer ?? 'a stranger'}`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${shortened(value)}`),
    ...(body ? [`  ${body.contentType}: ${shortened(body.text)}`] : []),
  ].join('\n');
}

const SHOWN = 2_000;

function shortened(text: string): string {
  const printable = text.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not reach a terminal
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ud800-\udfff\u200b-\u202e\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (printable.length <= SHOWN) return printable;
  return `${printable.slice(0, SHOWN)}… (${text.length} characters)`;
}
