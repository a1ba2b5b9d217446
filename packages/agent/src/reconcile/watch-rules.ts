import type { Log } from '@gantry/daemon/log';
import { type Loop, startLoop } from '@gantry/daemon/loop';

/** So long guests are without rules, at most, where somebody removes all there are. */
const LOOK_MS = 5_000;
/** One look in so many reads every rule, which takes the longer the more there are. */
const THOROUGH = 60;

/** The agent, as far as this loop needs it. */
type RuleKeeper = { restoreRules(options: { quickly: boolean }): Promise<void> };

/** Keeps the agent's firewall rules in force on a host where others have rules too. */
export function watchRules(agent: RuleKeeper, log: Log): Loop {
  let looks = 0;
  return startLoop({
    ...{ name: 'firewall rules', everyMs: LOOK_MS, log },
    body: async () => {
      looks += 1;
      await agent.restoreRules({ quickly: looks % THOROUGH !== 0 });
    },
  });
}
