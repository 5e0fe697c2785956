export function startAgent(
  command: string,
  args: string[],
  place: { env: Record<string, string>; cwd: string; record?: boolean },
): {
  write(text: string): void;
  until(text: string, patienceMs?: number): Promise<{ at: number; line: string }>;
  close(): Promise<void>;
};
