import { ApiError } from '@gantry/sdk';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { gantry } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Input, Select, TextArea } from '../../../components/field.tsx';
import { Panel } from '../../../components/panel.tsx';
import { formatPrice } from '../../../format/money.ts';
import { KeyChoice } from './key-choice.tsx';
import { NetworkChoice } from './network-choice.tsx';
import { RequestPreview } from './request-preview.tsx';
import { TypeChoice } from './type-choice.tsx';
import type { Catalogue } from './use-catalogue.ts';
import { EMPTY_DRAFT, toCreateVmBody, type VmDraft } from './vm-draft.ts';

type CreateVmFormProps = { projectId: string; catalogue: Catalogue };

/** The form, and beside it the price and the same request for other tools. */
export function CreateVmForm({ projectId, catalogue }: CreateVmFormProps) {
  const { locations, specs, availabilities, images, prices, keys, networks } = catalogue;
  const [draft, setDraft] = useState(() => firstDraft(catalogue));
  const change = (part: Partial<VmDraft>) => setDraft((before) => ({ ...before, ...part }));
  const here = new Map(
    availabilities
      .filter(({ location }) => location === draft.location)
      .map(({ type, available }) => [type, available]),
  );
  const usable = images.filter((image) => image.locations.includes(draft.location));
  // What another location does not have cannot stay chosen.
  const type = here.has(draft.type) ? draft.type : '';
  const image = usable.some(({ name }) => name === draft.image)
    ? draft.image
    : (usable[0]?.name ?? '');
  const body = toCreateVmBody({ ...draft, type, image });
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => gantry.vms.create({ project_id: projectId, body }),
    onSuccess: ({ operation }) =>
      navigate({
        to: '/projects/$projectId/vms/$vmId',
        params: { projectId, vmId: operation.metadata.id },
      }),
  });
  const problem = (...fields: string[]) => problemWith(create.error, fields);
  const price = prices.get(type);
  return (
    <form
      className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <div className="flex min-w-0 flex-col gap-6">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" hint="Small letters, digits and hyphens." error={problem('name')}>
            {(control) => (
              <Input
                {...control}
                required
                autoFocus
                autoComplete="off"
                spellCheck={false}
                pattern="[a-z0-9\-]{1,63}"
                value={draft.name}
                onChange={({ target }) => change({ name: target.value })}
              />
            )}
          </Field>
          <Field label="Location" error={problem('location')}>
            {(control) => (
              <Select
                {...control}
                value={draft.location}
                onChange={({ target }) => change({ location: target.value })}
              >
                {locations.map(({ name, description }) => (
                  <option key={name} value={name}>
                    {description === '' ? name : `${name} – ${description}`}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <fieldset>
          <legend className="mb-2 text-lg font-semibold">Type</legend>
          <TypeChoice
            specs={specs}
            availability={here}
            prices={prices}
            chosen={type}
            onChoose={(chosen) => change({ type: chosen })}
          />
          {problem('type') && <p className="mt-1 text-sm text-bad">{problem('type')}</p>}
        </fieldset>
        <Field label="Image" className="sm:max-w-sm" error={problem('image')}>
          {(control) => (
            <Select
              {...control}
              value={image}
              onChange={({ target }) => change({ image: target.value })}
            >
              {usable.map(({ id, name, description }) => (
                <option key={id} value={name}>
                  {description === '' ? name : `${name} – ${description}`}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <KeyChoice
          keys={keys}
          draft={draft}
          error={problem('ssh_public_key', 'ssh_keys')}
          onChange={change}
        />
        <NetworkChoice
          networks={networks}
          draft={draft}
          error={problem('network_interfaces')}
          onChange={change}
        />
        <Field
          label="Tags"
          optional
          hint="Such as env=prod, team=vision. You can filter by them."
          error={problem('tags')}
        >
          {(control) => (
            <Input
              {...control}
              value={draft.tags}
              onChange={({ target }) => change({ tags: target.value })}
            />
          )}
        </Field>
        <Field
          label="User data"
          optional
          hint="For cloud-init: begins with #cloud-config or #!. Programs in the VM can read it, so it is no place for secrets."
          error={problem('user_data')}
        >
          {(control) => (
            <TextArea
              {...control}
              spellCheck={false}
              value={draft.userData}
              onChange={({ target }) => change({ userData: target.value })}
            />
          )}
        </Field>
      </div>
      <div className="flex min-w-0 flex-col gap-4 lg:sticky lg:top-6">
        <Panel title="Price">
          <p className="text-xl font-semibold">
            {type === '' ? '–' : formatPrice(price ?? 0)}
            <span className="text-base font-normal text-muted"> per hour while it runs</span>
          </p>
          <p className="mt-1 mb-3 text-sm text-muted">
            {priceNote({ type, available: here.get(type) ?? false, priced: price !== undefined })}
          </p>
          {create.error && (
            <div className="mb-3">
              <ErrorNote error={create.error} title="The VM was not created" />
            </div>
          )}
          <Button
            type="submit"
            look="primary"
            className="w-full"
            busy={create.isPending}
            disabled={type === ''}
          >
            Create VM
          </Button>
        </Panel>
        <RequestPreview body={body} projectId={projectId} networks={networks} />
      </div>
    </form>
  );
}

/** The first location that has something free, and the first type that is free there. */
function firstDraft({ locations, specs, availabilities, images }: Catalogue): VmDraft {
  const free = availabilities.filter(({ available }) => available);
  const location =
    locations.find(({ name }) => free.some((each) => each.location === name)) ?? locations[0];
  const type = specs.find(({ product_name }) =>
    free.some((each) => each.type === product_name && each.location === location?.name),
  );
  return {
    ...EMPTY_DRAFT,
    location: location?.name ?? '',
    type: type?.product_name ?? '',
    image: images[0]?.name ?? '',
  };
}

type PriceFacts = { type: string; available: boolean; priced: boolean };

function priceNote({ type, available, priced }: PriceFacts): string {
  if (type === '') return 'Choose a type.';
  const free = available
    ? 'A VM of this type can be placed now.'
    : 'No host has room for this type now: the creation would fail.';
  return priced ? `${free} Disks are charged separately.` : `${free} The type has no price.`;
}

/** What the server said about one of the fields or its members. */
function problemWith(error: unknown, fields: string[]): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.fields.find(({ field }) =>
    fields.some((name) => field === name || field.startsWith(`${name}.`)),
  );
  return found?.reason;
}
