import type { Schemas } from '@gantry/sdk';
import { Button } from '../../../components/button.tsx';
import { Field, Input } from '../../../components/field.tsx';
import { showSize } from '../../disks/disk-size.ts';
import type { NewDisk, VmDraft } from './vm-draft.ts';

type DiskChoiceProps = {
  /** The disks of the location that can be attached. */
  disks: Schemas['Disk'][];
  draft: VmDraft;
  /** What is wrong with the disk at an index of the request, where existing disks come first. */
  problemAt(index: number): string | undefined;
  onChange(change: Partial<VmDraft>): void;
};

/** Data disks: some that exist, and some that are created with the VM. */
export function DiskChoice({ disks, draft, problemAt, onChange }: DiskChoiceProps) {
  const { existingDisks, newDisks } = draft;
  const toggle = (id: string) =>
    onChange({
      existingDisks: existingDisks.includes(id)
        ? existingDisks.filter((each) => each !== id)
        : [...existingDisks, id],
    });
  const change = (key: number, part: Partial<NewDisk>) =>
    onChange({
      newDisks: newDisks.map((disk) => (disk.key === key ? { ...disk, ...part } : disk)),
    });
  const nextKey = Math.max(0, ...newDisks.map(({ key }) => key)) + 1;
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 text-lg font-semibold">Data disks</legend>
      <p className="text-sm text-muted">
        Every VM has a disk for its system. Data disks stay when the VM is deleted.
      </p>
      {disks.map(({ id, name, size }) => {
        const index = existingDisks.indexOf(id);
        const problem = index < 0 ? undefined : problemAt(index);
        return (
          <div key={id}>
            <label className="flex items-center gap-2">
              <input
                type="checkbox"
                className="accent-accent"
                checked={index >= 0}
                onChange={() => toggle(id)}
              />
              <span className="font-medium">{name}</span>
              <span className="text-muted">{showSize(size)}</span>
            </label>
            {problem && <p className="text-sm text-bad">{problem}</p>}
          </div>
        );
      })}
      {newDisks.map((disk, index) => (
        <NewDiskRow
          key={disk.key}
          disk={disk}
          problem={problemAt(existingDisks.length + index)}
          onChange={(part) => change(disk.key, part)}
          onRemove={() => onChange({ newDisks: newDisks.filter(({ key }) => key !== disk.key) })}
        />
      ))}
      <div>
        <Button
          size="small"
          onClick={() =>
            onChange({ newDisks: [...newDisks, { key: nextKey, name: '', sizeGib: '100' }] })
          }
        >
          Add a new disk
        </Button>
      </div>
    </fieldset>
  );
}

type NewDiskRowProps = {
  disk: NewDisk;
  problem: string | undefined;
  onChange(part: Partial<NewDisk>): void;
  onRemove(): void;
};

function NewDiskRow({ disk, problem, onChange, onRemove }: NewDiskRowProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_7rem_auto] items-start gap-3 sm:max-w-lg">
      <Field label="Name of the disk" error={problem}>
        {(control) => (
          <Input
            {...control}
            required
            autoComplete="off"
            spellCheck={false}
            value={disk.name}
            onChange={({ target }) => onChange({ name: target.value })}
          />
        )}
      </Field>
      <Field label="Size (GiB)">
        {(control) => (
          <Input
            {...control}
            type="number"
            min={1}
            required
            value={disk.sizeGib}
            onChange={({ target }) => onChange({ sizeGib: target.value })}
          />
        )}
      </Field>
      <Button
        look="ghost"
        className="mt-6"
        aria-label={`Remove the new disk ${disk.name}`}
        onClick={onRemove}
      >
        Remove
      </Button>
    </div>
  );
}
