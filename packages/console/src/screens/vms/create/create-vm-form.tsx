import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { gantry } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Input, Select, TextArea } from '../../../components/field.tsx';
import { Note } from '../../../components/note.tsx';
import { DiskChoice } from './disk-choice.tsx';
import { fieldProblem, isGeneral } from './field-problem.ts';
import { KeyChoice } from './key-choice.tsx';
import { NetworkChoice } from './network-choice.tsx';
import { PricePanel } from './price-panel.tsx';
import { RequestPreview } from './request-preview.tsx';
import { TypeChoice } from './type-choice.tsx';
import type { Catalogue } from './use-catalogue.ts';
import { useCheck } from './use-check.ts';
import { EMPTY_DRAFT, toCreateVmBody, type VmDraft } from './vm-draft.ts';

/** The form shows what is wrong with these beside them. */
const SHOWN_FIELDS = [
  ...['name', 'location', 'type', 'image', 'ssh_public_key', 'ssh_keys'],
  ...['network_interfaces', 'disks', 'tags', 'user_data'],
];

type CreateVmFormProps = { projectId: string; catalogue: Catalogue };

/** The form, and beside it the price and the same request for other tools. */
export function CreateVmForm({ projectId, catalogue }: CreateVmFormProps) {
  const { locations, specs, availabilities, images, networks } = catalogue;
  const [draft, setDraft] = useState(() => firstDraft(catalogue));
  const here = new Map(
    availabilities
      .filter(({ location }) => location === draft.location)
      .map((availability) => [availability.type, availability]),
  );
  const usable = images.filter((image) => image.locations.includes(draft.location));
  const disks = catalogue.disks.filter(
    ({ location, vm_ids }) => location === draft.location && vm_ids.length === 0,
  );
  const addresses = catalogue.addresses.filter(
    ({ location, vm_id }) => location === draft.location && vm_id === '',
  );
  // What another location does not have cannot stay chosen.
  const type = here.has(draft.type) ? draft.type : '';
  const image = usable.some(({ name }) => name === draft.image)
    ? draft.image
    : (usable[0]?.name ?? '');
  const shown: VmDraft = {
    ...draft,
    ...{ type, image },
    existingDisks: draft.existingDisks.filter((id) => disks.some((disk) => disk.id === id)),
    publicAddress:
      draft.publicAddress === 'none' || addresses.some(({ id }) => id === draft.publicAddress)
        ? draft.publicAddress
        : 'dynamic',
  };
  const body = toCreateVmBody(shown);
  const check = useCheck(projectId, body);
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => gantry.vms.create({ project_id: projectId, body }),
    onSuccess: ({ operation }) =>
      navigate({
        to: '/projects/$projectId/vms/$vmId',
        params: { projectId, vmId: operation.metadata.id },
      }),
  });
  const change = (part: Partial<VmDraft>) => {
    create.reset();
    setDraft((before) => ({ ...before, ...part }));
  };
  const refusal = create.error ?? check.error;
  const problem = (...fields: string[]) => fieldProblem(refusal, fields);
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
          keys={[...catalogue.ownKeys, ...catalogue.keys]}
          draft={draft}
          error={problem('ssh_public_key', 'ssh_keys')}
          onChange={change}
        />
        <NetworkChoice
          networks={networks}
          addresses={addresses}
          draft={shown}
          problem={problem}
          onChange={change}
        />
        <DiskChoice
          disks={disks}
          draft={shown}
          problemAt={(index) => problem(`disks.${index}`)}
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
        <PricePanel availability={here.get(type)} estimate={check.estimate}>
          {create.error && (
            <div className="mb-3">
              <ErrorNote error={create.error} title="The VM was not created" />
            </div>
          )}
          {!create.error && isGeneral(check.error, SHOWN_FIELDS) && (
            <div className="mb-3">
              <Note tone="warn">It would be refused now: {check.error?.message}</Note>
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
        </PricePanel>
        <RequestPreview
          body={body}
          projectId={projectId}
          things={[...networks, ...disks, ...addresses]}
        />
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
