import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { dayMs, parseDuration } from '../core/duration.ts'
import type { World } from '../world.ts'

/** The control request is wrong; nothing was done. */
export class Misused extends Error {
  override readonly name = 'Misused'
  readonly status: number
  readonly errors: readonly { readonly path: string; readonly message: string }[]

  constructor(status: number, message: string, errors: readonly { path: string; message: string }[] = []) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

/** The body of a control request; nothing counts as `{}`. Throws `Misused`. */
export const body = <T extends z.ZodType>(schema: T, request: FastifyRequest): z.infer<T> => {
  const text = typeof request.body === 'string' && request.body.trim() !== '' ? request.body : '{}'
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Misused(400, error instanceof Error ? error.message : 'the body is no JSON')
  }
  return checked(schema, value)
}

/** What the schema makes of a value. Throws `Misused` naming every fault. */
export const checked = <T extends z.ZodType>(schema: T, value: unknown): z.infer<T> => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  throw new Misused(400, errors.map((error) => `${error.path}: ${error.message}`).join('; '), errors)
}

/** Ten years: every day of a leap of the clock is lived through, and the clock never goes back. */
const longestDays = 3_660

/** A duration such as `2d`, as milliseconds. */
export const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text)
  if (ms !== null && ms <= longestDays * dayMs) return ms
  context.addIssue({ code: 'custom', message: `must be a duration such as 90s, 10m, 2h or 3d, at most ${longestDays}d` })
  return z.NEVER
})

/** The seller that is meant, the first one unless another is named. Throws `Misused` for one that is not registered. */
export const registeredSeller = ({ settings, sellers }: World, sellerId = settings.sellerId): string => {
  if (sellers.find(sellerId) === null) throw new Misused(404, `sellerId: ${sellerId} is not registered`)
  return sellerId
}
