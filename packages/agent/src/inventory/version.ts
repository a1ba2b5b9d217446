/** The agent's own version, as it tells the control plane. */
export const AGENT_VERSION = '0.1.0';
