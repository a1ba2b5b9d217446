import { useQueryClient } from '@tanstack/react-query';
import { adminVmTypes } from '../../../api/admin-catalogue-queries.ts';
import { gantry } from '../../../api/client.ts';
import { Field, Input } from '../../../components/field.tsx';
import { FormDialog, textOf } from '../../../components/form-dialog.tsx';
import { LocationChoice, locationsOf } from './location-choice.tsx';

/** The fields with numbers, and what each begins with. */
const NUMBERS = [
  { name: 'cpu_cores', label: 'CPU cores', value: 8 },
  { name: 'memory_gb', label: 'Memory (GB)', value: 64 },
  { name: 'gpu_count', label: 'GPUs', value: 1 },
  { name: 'disk_count', label: 'NVMe drives', value: 0 },
  { name: 'disk_gb', label: 'All drives together (GB)', value: 0 },
  { name: 'network_gbps', label: 'Network (Gbps)', value: 10 },
] as const;
const TEXTS = [
  { name: 'gpu_type', label: 'GPU model', value: '', hint: 'As hosts report it.' },
  { name: 'cpu_type', label: 'CPU model', value: '', hint: 'For people.' },
  { name: 'memory_type', label: 'Kind of memory', value: '', hint: 'For people, such as DDR5.' },
  { name: 'disk_type', label: 'Kind of drives', value: 'N/A', hint: 'N/A if it has none.' },
] as const;

export function CreateVmType() {
  const queryClient = useQueryClient();
  const create = async (form: FormData) => {
    const number = (name: (typeof NUMBERS)[number]['name']) => Number(form.get(name));
    const text = (name: (typeof TEXTS)[number]['name']) => textOf(form, name);
    await gantry.adminVmTypes.create({
      body: {
        name: textOf(form, 'name'),
        description: textOf(form, 'description'),
        cpu_cores: number('cpu_cores'),
        cpu_type: text('cpu_type'),
        memory_gb: number('memory_gb'),
        memory_type: text('memory_type'),
        gpu_count: number('gpu_count'),
        gpu_type: text('gpu_type'),
        disk_count: number('disk_count'),
        disk_gb: number('disk_gb'),
        disk_type: text('disk_type'),
        network_gbps: number('network_gbps'),
        locations: locationsOf(form),
      },
    });
    await queryClient.invalidateQueries(adminVmTypes());
  };
  return (
    <FormDialog open="Add VM type" title="Add a VM type" action="Add" onSubmit={create}>
      <Field label="Name" hint="Such as l40s.2x.">
        {(control) => <Input {...control} name="name" required pattern="[a-z0-9.\-]{1,63}" />}
      </Field>
      <Field label="Description" optional>
        {(control) => <Input {...control} name="description" />}
      </Field>
      <div className="grid grid-cols-2 gap-4">
        {NUMBERS.map(({ name, label, value }) => (
          <Field key={name} label={label}>
            {(control) => (
              <Input {...control} name={name} type="number" min={0} required defaultValue={value} />
            )}
          </Field>
        ))}
        {TEXTS.map(({ name, label, value, hint }) => (
          <Field key={name} label={label} hint={hint}>
            {(control) => <Input {...control} name={name} required defaultValue={value} />}
          </Field>
        ))}
      </div>
      <LocationChoice chosen={[]} />
    </FormDialog>
  );
}
