const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a text such as `500ms`, `90s`, `5m`, `1h`, `2d`; null if it is invalid. */
export const parseDurationMs = (text: string): number | null => {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  const factor = unit === undefined ? undefined : unitsMs[unit]
  if (amount === undefined || factor === undefined) return null
  const durationMs = Number(amount) * factor
  return Number.isSafeInteger(durationMs) ? durationMs : null
}
