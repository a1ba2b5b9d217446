import type { Schemas } from '@gantry/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { adminLocations } from '../../../api/admin-catalogue-queries.ts';
import { allHosts } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Select } from '../../../components/field.tsx';
import { Note } from '../../../components/note.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { Panel } from '../../../components/panel.tsx';
import { describeHost } from '../host/describe-host.ts';
import { Examination } from './examination.tsx';

type NewToken = Schemas['NewJoinToken'];

/** Lets a new server join: a token, the line to paste there, and the server as soon as it appears. */
export function JoinHost() {
  const { data: locations, error } = useQuery(adminLocations());
  const [location, setLocation] = useState('');
  const create = useMutation({
    mutationFn: (chosen: string) => gantry.adminJoinTokens.create({ body: { location: chosen } }),
  });
  const chosen = location || (locations?.[0]?.name ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(chosen);
  };
  return (
    <>
      <PageHeader
        title="Join a host"
        description="A token lets one server join. It works once, within a day."
      />
      {error && <ErrorNote error={error} />}
      <div className="flex max-w-3xl flex-col gap-4">
        <Panel title="1. Where is the server?">
          <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
            <Field label="Location" className="min-w-44">
              {(control) => (
                <Select
                  {...control}
                  value={chosen}
                  onChange={(event) => setLocation(event.target.value)}
                >
                  {locations?.map(({ name }) => (
                    <option key={name}>{name}</option>
                  ))}
                </Select>
              )}
            </Field>
            <Button type="submit" look="primary" busy={create.isPending} disabled={chosen === ''}>
              Create a token
            </Button>
          </form>
          {create.error && <ErrorNote error={create.error} />}
        </Panel>
        {create.data && <Steps key={create.data.id} token={create.data} />}
      </div>
    </>
  );
}

function Steps({ token }: { token: NewToken }) {
  return (
    <>
      <Panel title="2. Paste this line on the server">
        <JoinLine token={token} />
      </Panel>
      <Panel title="3. Wait for it here">
        <Arrival token={token} />
        <Examination tokenId={token.id} />
      </Panel>
    </>
  );
}

function JoinLine({ token }: { token: NewToken }) {
  if (token.ca_sha256 === '') {
    return (
      <Note tone="warn">
        No scheduler has started yet, so the server could not check whom it talks to. Start one, and
        create another token.
      </Note>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <CopyLine line={token.join_line} label="the line" />
      <p className="text-sm text-muted">
        It installs the agent, examines the server, enrols it and waits until it is ready. It may be
        run again. The token is shown only now.
      </p>
      <details>
        <summary className="cursor-pointer text-sm">The same as three commands</summary>
        <div className="mt-2 flex flex-col gap-2">
          {token.join_commands.map((command) => (
            <CopyLine key={command} line={command} label="the command" />
          ))}
        </div>
      </details>
    </div>
  );
}

function CopyLine({ line, label }: { line: string; label: string }) {
  return (
    <div className="flex items-start gap-2 rounded-md border border-line bg-canvas p-3">
      <code className="min-w-0 flex-1 font-mono text-sm break-all">{line}</code>
      <CopyButton text={line} label={label} />
    </div>
  );
}

/** A host that is not older than the token and is in its location; the stream of events brings it. */
function Arrival({ token }: { token: NewToken }) {
  const { data: hosts = [] } = useQuery(allHosts());
  const joined = hosts.filter(
    ({ location, created_at }) => location === token.location && created_at >= token.created_at,
  );
  if (joined.length === 0) {
    return (
      <p role="status">
        <Badge tone="busy">Waiting for a new host in {token.location}</Badge>
      </p>
    );
  }
  return (
    <ul className="flex flex-col gap-2" aria-live="polite">
      {joined.map((host) => (
        <li key={host.id} className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <Link
            to="/operator/hosts/$hostId"
            params={{ hostId: host.id }}
            className="font-medium text-accent hover:underline"
          >
            {host.name}
          </Link>
          <Badge tone={describeHost(host).tone}>{describeHost(host).label}</Badge>
          <span className="text-muted">
            {host.gpus.length} GPUs, {host.drives.length} drives
          </span>
        </li>
      ))}
    </ul>
  );
}
