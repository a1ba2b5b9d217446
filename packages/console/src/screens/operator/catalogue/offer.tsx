import { Badge } from '../../../components/badge.tsx';

type OfferProps = { retired: boolean; locations: readonly string[] };

/** Whether tenants can choose a type or an image, and where. */
export function Offer({ retired, locations }: OfferProps) {
  if (retired) return <Badge tone="idle">Retired</Badge>;
  if (locations.length === 0) return <Badge tone="warn">Offered nowhere</Badge>;
  return (
    <span className="flex flex-col items-start gap-x-4 md:flex-row">
      {locations.map((location) => (
        <Badge key={location} tone="good">
          {location}
        </Badge>
      ))}
    </span>
  );
}
