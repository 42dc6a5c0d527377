import { z } from 'zod'
import { operationNames } from '../clients/marketplace/endpoints.ts'
import { nearestName } from '../domain/values/nearest.ts'
import { parseDurationMs } from '../util/duration.ts'

/** One limit of `RATE_LIMITS`. */
export const rateLimit = z.strictObject({
  tokens: z.int().min(1).max(1_000_000),
  per: z.string().transform((text, context): number => {
    const perMs = parseDurationMs(text)
    if (perMs !== null && perMs >= 1_000 && perMs <= 86_400_000) return perMs
    context.addIssue({ code: 'custom', message: 'is not a duration from 1s to 1d, such as 1m or 1h' })
    return z.NEVER
  }),
})

/** Limits that replace the marketplace's published ones: operation -> requests in a time. Unknown operations are refused. */
export const rateLimits = z
  .record(z.string(), rateLimit)
  .superRefine((limits, context) => {
    for (const name of Object.keys(limits)) {
      if (operationNames.includes(name)) continue
      const near = nearestName(name, operationNames)
      const message = `there is no operation ${name}${near === null ? '' : ` (did you mean ${near}?)`}`
      context.addIssue({ code: 'custom', path: [name], message })
    }
  })
  .transform((limits) =>
    Object.fromEntries(Object.entries(limits).map(([name, { tokens, per }]) => [name, { tokens, perMs: per }])),
  )

/** Description of the accepted values of `RATE_LIMITS`. */
export const rateLimitsAccepted = 'operation -> {"tokens": n, "per": "1m"}, such as {"orders.ship": {"tokens": 30, "per": "1m"}}'
