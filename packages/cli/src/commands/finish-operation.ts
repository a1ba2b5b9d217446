import type { Schemas } from '@gantry/sdk';
import type { CliContext } from '../cli-context.ts';
import type { ProjectConnection } from '../config/connect.ts';
import { type OutputFormat, printOne } from '../terminal/print.ts';
import { startProgress } from '../terminal/progress.ts';
import { whileInterruptible } from '../terminal/while-interruptible.ts';

type Operation = Schemas['Operation'];
export type WaitFlag = { wait: boolean };

export const waitFlag = {
  wait: { kind: 'boolean', default: true, brief: 'Wait until the operation has ended' },
} as const;

type Finish<Result> = {
  operation: Operation;
  /** What is shown while it is awaited, such as `create trainer`. */
  title: string;
  flags: WaitFlag & { output: OutputFormat };
  /** The fields of the result that people read; without it they get none. */
  fields?: (result: Result) => readonly (readonly [string, string])[];
};

/**
 * Ends a command that started an operation. With `--wait` it shows the states of the operation and
 * prints its result; with `--no-wait` it prints the operation itself.
 */
export async function finishOperation<Result>(
  cli: CliContext,
  connection: ProjectConnection,
  { operation, title, flags, fields }: Finish<Result>,
): Promise<void> {
  const { client, project_id } = connection;
  const format = flags.output;
  if (!flags.wait) return printOne(cli, operation, { format, fields: operationFields(operation) });
  const id = operation.operation_id;
  const advice = `stopped waiting. The operation goes on: gantry operation show ${id}`;
  const progress = startProgress(cli);
  const show = (state: string) => progress.show(`${title}: ${stateText(state)}`);
  const ended = await whileInterruptible(advice, async (signal) => {
    const isRunning = operation.state === 'IN_PROGRESS';
    const stopSteps = isRunning ? showSteps(connection, id, show) : () => {};
    try {
      const onStep = ({ state }: Operation) => show(state);
      return await client.waitForOperation({ project_id, operation }, { signal, onStep });
    } finally {
      stopSteps();
      progress.end();
    }
  });
  if (format !== 'table' || fields !== undefined)
    printOne(cli, ended.result, { format, fields: fields?.(ended.result as Result) ?? [] });
}

/** The steps between the request and the end, which only the event stream has. */
const STEPS = ['placed', 'relocating'];

/**
 * Shows the steps of an operation as they happen. They are for people only, so the command does not fail
 * if the stream cannot be opened. Returns a function that ends it.
 */
function showSteps(
  { client, project_id }: ProjectConnection,
  operation_id: string,
  show: (step: string) => void,
): () => void {
  const controller = new AbortController();
  const follow = async () => {
    const events = client.followEvents({ project_id }, { signal: controller.signal });
    for await (const { type, data } of events) {
      const step = String(data['step']);
      if (type === 'operation' && data['operation_id'] === operation_id && STEPS.includes(step))
        show(step);
    }
  };
  void follow().catch(() => {});
  return () => controller.abort();
}

export function operationFields(operation: Operation) {
  const { operation_id, state, metadata, started_at, completed_at, result } = operation;
  const { code, message } = state === 'FAILED' ? (result ?? {}) : {};
  return [
    ['Operation', operation_id],
    ['Action', `${metadata.operation_name} ${metadata.type}`],
    ['Resource', metadata.id],
    ['State', stateText(state)],
    ['Code', text(code)],
    ['Message', text(message)],
    ['Started', started_at],
    ['Completed', completed_at],
  ] as const;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `IN_PROGRESS` is `in progress` for people. */
function stateText(state: string): string {
  return state.toLowerCase().replaceAll('_', ' ');
}
