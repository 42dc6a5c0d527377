const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** Reads `250ms`, `5s`, `10m`, `2h` or `3d` as milliseconds; `null` when the text is no duration. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim())
  const factor = MILLISECONDS[match?.[2] ?? '']
  const amount = match?.[1]
  return factor === undefined || amount === undefined ? null : Math.round(Number(amount) * factor)
}
