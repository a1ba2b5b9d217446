import { type UseQueryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Input } from '../../../components/field.tsx';
import { FormDialog } from '../../../components/form-dialog.tsx';
import { Panel } from '../../../components/panel.tsx';
import { quotaChanges } from './quota-changes.ts';

type Quota = { type: string; max: number; used: number };
type QuotaPanelProps<Each extends Quota> = {
  title: string;
  description?: string;
  query: UseQueryOptions<Each[], Error, Each[], string[]>;
  onChange(changes: Record<string, number>): Promise<{ quotas: Each[] }>;
};

const LABELS: Record<string, string> = {
  projects: 'Projects',
  vms: 'VMs',
  gpus: 'GPUs',
  disks: 'Disks',
  disk_gib: 'GiB of disks',
  snapshots: 'Snapshots',
  snapshot_gib: 'GiB of snapshots',
  backups: 'Backups',
  backup_gib: 'GiB of backups',
  images: 'Images',
  image_gib: 'GiB of images',
  firewall_rules: 'Firewall rules',
  networks: 'Networks',
  subnets: 'Subnets',
  access_keys: 'Access keys',
  public_addresses: 'Reserved public addresses',
};
const labelOf = (type: string) => LABELS[type] ?? type;
const count = new Intl.NumberFormat('en-US');

/** How much is used of what is allowed. */
export function QuotaPanel<Each extends Quota>(props: QuotaPanelProps<Each>) {
  const { title, description, query, onChange } = props;
  const queryClient = useQueryClient();
  const { data: quotas = [], error } = useQuery(query);
  const change = async (form: FormData) => {
    const { quotas: next } = await onChange(quotaChanges(quotas, form));
    queryClient.setQueryData(query.queryKey, next);
  };
  return (
    <Panel
      title={title}
      actions={
        <FormDialog
          open="Change"
          label={`Change the ${title.toLowerCase()}`}
          title={title}
          action="Save"
          onSubmit={change}
        >
          <div className="grid gap-4 sm:grid-cols-2">
            {quotas.map(({ type, max, used }) => (
              <Field
                key={type}
                label={labelOf(type)}
                hint={used === 0 ? undefined : `${count.format(used)} used`}
              >
                {(control) => (
                  <Input
                    {...control}
                    name={type}
                    type="number"
                    min={0}
                    required
                    defaultValue={max}
                  />
                )}
              </Field>
            ))}
          </div>
        </FormDialog>
      }
    >
      {description && <p className="mb-3 text-muted">{description}</p>}
      {error && <ErrorNote error={error} />}
      <dl className="grid gap-x-8 gap-y-3 sm:grid-cols-2 lg:grid-cols-3">
        {quotas.map((quota) => (
          <QuotaBar key={quota.type} {...quota} />
        ))}
      </dl>
    </Panel>
  );
}

function QuotaBar({ type, max, used }: Quota) {
  const share = max === 0 ? Number(used > 0) : Math.min(1, used / max);
  const colour = share >= 1 ? 'bg-bad' : share >= 0.8 ? 'bg-warn' : 'bg-accent';
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-2 gap-y-1">
      <dt className="text-muted">{labelOf(type)}</dt>
      <dd className="whitespace-nowrap">
        {count.format(used)} of {count.format(max)}
      </dd>
      <dd aria-hidden="true" className="col-span-2 h-1 rounded-full bg-hover">
        <div className={`h-full rounded-full ${colour}`} style={{ width: `${share * 100}%` }} />
      </dd>
    </div>
  );
}
