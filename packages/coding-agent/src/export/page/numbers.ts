/** Amounts and times as people read them. */

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const countText = (value: number): string => whole.format(value);
export const shortText = (value: number): string => (value < 1000 ? whole.format(value) : short.format(value));
export const moneyText = (value: number): string =>
  `$${value.toFixed(value === 0 || value >= 1 ? 2 : value >= 0.01 ? 3 : 5)}`;
export const dayText = (ms: number): string => (isTime(ms) ? day.format(ms) : "");
export const clockText = (ms: number): string => (isTime(ms) ? clock.format(ms) : "");
export const isoText = (ms: number): string => (isTime(ms) ? new Date(ms).toISOString() : "");

/** Beyond it there are no dates. */
const isTime = (ms: number): boolean => ms > 0 && ms <= 8.64e15;

export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const shown = parts.filter(([value]) => value > 0).slice(0, 2);
  return shown.length === 0 ? "0 s" : shown.map(([value, unit]) => `${value} ${unit}`).join(" ");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${whole.format(count)} ${count === 1 ? one : many}`;
}
