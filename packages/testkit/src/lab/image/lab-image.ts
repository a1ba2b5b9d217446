/** What a level-1 machine boots from. The files are never changed. */
export type LabImage = {
  kernel: string;
  initramfs: string;
  root: string;
  /** Arguments that the initramfs needs. */
  kernelArguments: string;
};
