/** How long a simulated host takes. Can be changed while it runs. Zero means without a timer. */
export type Behaviour = {
  /** From the start call until the domain runs. */
  bootMs: number;
  /** From the shutdown request until the guest is off. Null if the guest ignores requests. */
  shutdownMs: number | null;
  /** To create a disk from an image. */
  copyMs: number;
  /** To reset a GPU. */
  resetMs: number;
  /** To erase a drive. */
  eraseMs: number;
  /** Whether guests have an agent that can freeze their file systems. */
  hasGuestAgent: boolean;
};

export const INSTANT: Behaviour = {
  ...{ bootMs: 0, shutdownMs: 0, copyMs: 0, resetMs: 0, eraseMs: 0 },
  hasGuestAgent: true,
};
