/** A plugin for rolldown and vite. */
export function pagePlugin(): { name: string; load(id: string): Promise<string | null> };
