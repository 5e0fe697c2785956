/** What the session asks of extensions before it does something that cannot be taken back. */
export interface SessionHooks {
  /** False: an extension said no. */
  beforeSwitch(event: { reason: "new" | "resume"; targetSessionFile?: string }): Promise<boolean>;
  beforeFork(event: { entryId: string }): Promise<boolean>;
  beforeTree(event: { targetId: string; summarize: boolean }): Promise<boolean>;
}

/** While there are no extensions nobody says no. */
export const NO_HOOKS: SessionHooks = {
  beforeSwitch: async () => true,
  beforeFork: async () => true,
  beforeTree: async () => true,
};
