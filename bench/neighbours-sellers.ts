/** How the marketplace of `neighbours-stub.ts` treats a seller. */
export interface Treatment {
  readonly tokenRefused?: true
  readonly throttled?: true
  readonly answersAfterMs?: number
}

/** The bad neighbours by their ids, which are those of their clients too. The first one is treated well, and wants more than all others. */
export const badNeighbours: Readonly<Record<string, Treatment>> = {
  greedy: {},
  'dead-token': { tokenRefused: true },
  'storm-of-429': { throttled: true },
  slow: { answersAfterMs: 30_000 },
}
