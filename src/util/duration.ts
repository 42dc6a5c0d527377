/** Units of durations, longest first. */
const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** Milliseconds of a text such as `500ms`, `90s`, `5m`, `1h`, `2d`; null if it is invalid. */
export const parseDurationMs = (text: string): number | null => {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  const [, factor] = units.find(([name]) => name === unit) ?? []
  if (amount === undefined || factor === undefined) return null
  const durationMs = Number(amount) * factor
  return Number.isSafeInteger(durationMs) ? durationMs : null
}

/** Formats milliseconds in the largest unit that gives a whole number; the inverse of {@link parseDurationMs}. */
export const formatDuration = (durationMs: number): string => {
  const [unit, factor] = units.find(([, each]) => durationMs % each === 0) ?? ['ms', 1]
  return `${durationMs / factor}${unit}`
}
