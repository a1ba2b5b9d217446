import { gantry } from '../../api/client.ts';
import { classNames } from '../../components/class-names.ts';
import { DeleteButton } from '../../components/delete-button.tsx';
import { arrangeRules, describeTraffic, type Rule } from './rule-matrix.ts';

type RuleTableProps = { projectId: string; rules: Rule[]; names: ReadonlyMap<string, string> };

const DIRECTIONS = { ingress: 'into VMs', egress: 'out of VMs' };

/** The rules of a network as a matrix: sources down, destinations across. */
export function RuleTable({ projectId, rules, names }: RuleTableProps) {
  const { sources, destinations, at } = arrangeRules(rules, names);
  if (rules.length === 0) {
    return <p className="text-muted">No rule: every connection is dropped, in both directions.</p>;
  }
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-collapse text-sm" aria-label="Firewall rules">
        <thead>
          <tr>
            <th scope="col" className="pr-3 pb-2 text-left text-xs font-medium text-muted">
              From ↓ · To →
            </th>
            {destinations.map((destination) => (
              <th key={destination} scope="col" className="px-2 pb-2 text-left font-medium">
                {destination}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sources.map((source) => (
            <tr key={source} className="border-t border-line align-top">
              <th scope="row" className="py-2.5 pr-3 text-left font-medium">
                {source}
              </th>
              {destinations.map((destination) => (
                <td key={destination} className="min-w-52 border-l border-line p-2">
                  <ul className="flex flex-col gap-1.5">
                    {at(source, destination).map((rule) => (
                      <RuleEntry key={rule.id} projectId={projectId} rule={rule} />
                    ))}
                  </ul>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RuleEntry({ projectId, rule }: { projectId: string; rule: Rule }) {
  const { id, name, action, direction, state } = rule;
  return (
    <li
      className={classNames(
        'flex items-start justify-between gap-2 rounded-md border-l-2 py-1 pr-1 pl-2',
        action === 'allow' ? 'border-good bg-good-soft' : 'border-bad bg-bad-soft',
      )}
    >
      <span>
        <span className="block font-medium">
          {action === 'allow' ? 'Allow' : 'Deny'} {describeTraffic(rule)}
        </span>
        <span className="block text-xs">
          {name}, {DIRECTIONS[direction]}
          {state !== 'active' && `, ${state}`}
        </span>
      </span>
      <DeleteButton
        name={name}
        onConfirm={() => gantry.firewallRules.delete({ project_id: projectId, rule_id: id })}
      >
        Connections that only this rule decides behave differently within seconds.
      </DeleteButton>
    </li>
  );
}
