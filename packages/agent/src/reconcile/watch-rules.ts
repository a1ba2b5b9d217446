import type { Log } from '@gantry/daemon/log';
import { type Loop, startLoop } from '@gantry/daemon/loop';

/** Guests are without rules for at most this long if another program removes all rules. */
const LOOK_MS = 5_000;
/** One in this many checks reads every rule, which takes longer the more rules there are. */
const THOROUGH = 60;

/** The part of the agent that this loop uses. */
type RuleKeeper = { restoreRules(options: { quickly: boolean }): Promise<void> };

/** Keeps the agent's firewall rules in force on a host on which other programs change rules too. */
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
