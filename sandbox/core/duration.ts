const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export const minuteMs = 60_000
export const hourMs = 3_600_000
export const dayMs = 86_400_000

/** Reads `250ms`, `5s`, `10m`, `2h` or `3d` as milliseconds; `null` when the text is no duration. */
export const parseDuration = (text: string): number | null => {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim())
  const factor = milliseconds[match?.[2] ?? '']
  const amount = match?.[1]
  return factor === undefined || amount === undefined ? null : Math.round(Number(amount) * factor)
}
