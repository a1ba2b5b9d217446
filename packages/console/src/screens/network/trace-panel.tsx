import type { Schemas } from '@gantry/sdk';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { gantry } from '../../api/client.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Field, Input, Select } from '../../components/field.tsx';
import { textOf } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';

type Trace = Schemas['FirewallTrace'];
type Request = Schemas['TraceFirewall'];
type TracePanelProps = { projectId: string; vms: { id: string; name: string }[] };

const REASONS: Record<Trace['reason'], string> = {
  allowed: 'Rules allow this connection.',
  denied_by_rule: 'A rule denies this connection.',
  no_rule_allows: 'No rule allows this connection.',
  no_route: 'There is no route between the two.',
  answered_by_gateway: 'The gateway of the network replies to this itself.',
};

/** Asks whether the rules let a connection pass, and draws the checks on its way. */
export function TracePanel({ projectId, vms }: TracePanelProps) {
  const listId = useId();
  const trace = useMutation({
    mutationFn: (body: Request) => gantry.firewallRules.trace({ project_id: projectId, body }),
  });
  const idOf = (text: string) => vms.find(({ name }) => name === text)?.id ?? text;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const protocol = textOf(form, 'protocol') as Request['protocol'];
    trace.mutate({
      ...{ from: idOf(textOf(form, 'from')), to: idOf(textOf(form, 'to')), protocol },
      ...(protocol === 'icmp' ? {} : { port: Number(textOf(form, 'port')) }),
    });
  };
  return (
    <Panel title="Trace a connection">
      <form
        onSubmit={submit}
        className="grid items-end gap-3 sm:grid-cols-[1fr_1fr_6rem_6rem_auto]"
      >
        <datalist id={listId}>
          {vms.map(({ id, name }) => (
            <option key={id} value={name} />
          ))}
        </datalist>
        <Field label="From">
          {(control) => (
            <Input {...control} name="from" list={listId} required placeholder="VM or address" />
          )}
        </Field>
        <Field label="To">
          {(control) => (
            <Input {...control} name="to" list={listId} required placeholder="VM or address" />
          )}
        </Field>
        <Field label="Protocol">
          {(control) => (
            <Select {...control} name="protocol">
              <option>tcp</option>
              <option>udp</option>
              <option>icmp</option>
            </Select>
          )}
        </Field>
        <Field label="Port">
          {(control) => (
            <Input {...control} name="port" type="number" min="1" max="65535" defaultValue="22" />
          )}
        </Field>
        <Button type="submit" look="primary" busy={trace.isPending}>
          Trace
        </Button>
      </form>
      {trace.error && (
        <div className="mt-3">
          <ErrorNote error={trace.error} />
        </div>
      )}
      {trace.data && <TraceResult trace={trace.data} />}
    </Panel>
  );
}

function TraceResult({ trace }: { trace: Trace }) {
  const { allowed, reason, settled, steps } = trace;
  return (
    <div className="mt-4" role="status">
      <p className="flex flex-wrap items-center gap-x-2 font-medium">
        <Badge tone={allowed ? 'good' : 'bad'}>{allowed ? 'It passes.' : 'It is blocked.'}</Badge>
        {REASONS[reason] ?? reason}
      </p>
      {!settled && (
        <p className="mt-1 text-sm text-warn">
          A host has not applied a change of these rules yet, and may still act differently.
        </p>
      )}
      <ol className="mt-3 flex flex-col" aria-label="Steps of the connection">
        {steps.map((step, index) => (
          <li
            key={index}
            className="relative ml-2 border-l-2 border-line-strong pb-3 pl-5 last:pb-0"
          >
            <span
              aria-hidden="true"
              className={`absolute top-1 -left-[7px] size-3 rounded-full border-2 border-surface ${step.allowed ? 'bg-good' : 'bg-bad'}`}
            />
            <p className="font-medium">
              {step.direction === 'egress' ? 'Leaves' : 'Enters'}{' '}
              <code className="font-mono text-sm">
                {step.source} → {step.destination}
              </code>
            </p>
            <p className="text-muted">
              {step.rule_name === ''
                ? 'No rule matches, so it is dropped.'
                : `${step.allowed ? 'Allowed' : 'Denied'} by ${step.rule_name}.`}
            </p>
          </li>
        ))}
      </ol>
    </div>
  );
}
