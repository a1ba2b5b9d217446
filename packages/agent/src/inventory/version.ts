/** The agent's own version, which it reports to the control plane. */
export const AGENT_VERSION = '0.1.0';
