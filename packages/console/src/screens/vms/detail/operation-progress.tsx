import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { operationSteps, type Step } from '../../../api/project-queries.ts';
import { Badge } from '../../../components/badge.tsx';
import { classNames } from '../../../components/class-names.ts';
import { Panel } from '../../../components/panel.tsx';
import { formatDuration } from '../../../format/duration.ts';
import { failureOf, operationLabel } from '../../../format/operation.ts';

type Operation = Schemas['Operation'];

/** Operations that choose a host first. */
const PLACED = ['CREATE', 'START'];
const OUTCOMES = {
  IN_PROGRESS: ['In progress', 'busy'],
  SUCCEEDED: ['Succeeded', 'good'],
  FAILED: ['Failed', 'bad'],
} as const;

/** The steps of the newest operation on the VM, as they happen. */
export function OperationProgress({
  projectId,
  operation,
}: {
  projectId: string;
  operation: Operation;
}) {
  const { data: seen = [] } = useQuery(operationSteps(projectId, operation.operation_id));
  const { state, started_at, completed_at } = operation;
  const [label, tone] = OUTCOMES[state];
  const failure = failureOf(operation);
  return (
    <Panel title={operationLabel(operation)} actions={<Badge tone={tone}>{label}</Badge>}>
      <ol className="flex flex-col gap-2 sm:flex-row sm:gap-0" aria-label="Steps">
        {stepsOf(operation, seen).map(({ title, done }, index) => (
          <li key={title} className="flex flex-1 items-center gap-2 sm:flex-col sm:items-stretch">
            <span
              aria-hidden="true"
              className={classNames(
                'h-1 w-6 rounded-full sm:w-auto',
                index > 0 && 'sm:ml-1',
                done ? 'bg-accent' : 'bg-line-strong',
                !done && state === 'IN_PROGRESS' && 'pulse-dot',
              )}
            />
            <span className={classNames(index > 0 && 'sm:ml-1', done ? 'text-text' : 'text-muted')}>
              {title}
              <span className="sr-only">{done ? ', done' : ', not yet'}</span>
            </span>
          </li>
        ))}
      </ol>
      {failure !== '' && <p className="mt-3 text-bad">{failure}</p>}
      {completed_at !== '' && (
        <p className="mt-2 text-sm text-muted">
          It took {formatDuration(Date.parse(completed_at) - Date.parse(started_at))}.
        </p>
      )}
    </Panel>
  );
}

/** The steps that an operation has. The stream says which of them have happened; success means all of them. */
function stepsOf({ metadata, state }: Operation, seen: Step[]): { title: string; done: boolean }[] {
  const hasSeen = (name: string) => seen.some(({ step }) => step === name);
  const isOver = state === 'SUCCEEDED';
  const moves = seen.filter(({ step }) => step === 'relocating').length;
  return [
    { title: 'Accepted', done: true },
    ...(PLACED.includes(metadata.operation_name)
      ? [{ title: 'Host chosen', done: isOver || hasSeen('placed') }]
      : []),
    ...(moves > 0 ? [{ title: 'Continued on another host', done: true }] : []),
    { title: state === 'FAILED' ? 'Failed' : 'Done', done: state !== 'IN_PROGRESS' },
  ];
}
