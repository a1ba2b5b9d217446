import { useQuery } from '@tanstack/react-query';
import { adminLocations } from '../../../api/admin-catalogue-queries.ts';

const NAME = 'locations';

/** The locations that offer something, as part of a form. */
export function LocationChoice({ chosen }: { chosen: readonly string[] }) {
  const { data: locations = [] } = useQuery(adminLocations());
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Offered in</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-1">
        {locations.map(({ name }) => (
          <label key={name} className="flex items-center gap-2">
            <input
              type="checkbox"
              name={NAME}
              value={name}
              defaultChecked={chosen.includes(name)}
              className="accent-accent"
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export const locationsOf = (form: FormData) => form.getAll(NAME).map(String);
