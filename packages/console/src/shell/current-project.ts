const KEY = 'gantry.project';

/** The project that was open last in this browser; undefined if there is none. */
export function currentProject(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined;
}

export function rememberProject(projectId: string): void {
  localStorage.setItem(KEY, projectId);
}
