import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'

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
export function body<T extends z.ZodType>(schema: T, request: FastifyRequest): z.infer<T> {
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
export function checked<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  throw new Misused(400, errors.map((error) => `${error.path}: ${error.message}`).join('; '), errors)
}
