import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type ProblemCode, problemKinds, problemMediaType, problemSchema } from './problems.ts'

/** The server with its types: zod validates requests and serializes answers. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

const problemResponse = (statuses: readonly number[]) => ({
  description: statuses
    .flatMap((status) =>
      Object.entries(problemKinds).flatMap(([code, kind]) => (kind.status === status ? [`\`${code}\` (${kind.title})`] : [])),
    )
    .join(', '),
  content: { [problemMediaType]: { schema: problemSchema } },
})

type ProblemStatus = (typeof problemKinds)[ProblemCode]['status']

/** Problem answers of a route for the OpenAPI document: these, and those that every route may return. */
export const problems = <const Status extends ProblemStatus>(...statuses: readonly Status[]) => {
  const all: readonly number[] = [400, 401, 403, ...statuses, 429, 500]
  return Object.fromEntries([...new Set(all)].map((status) => [status, problemResponse([status])]))
}

/** Problem answers of a route without a key, for the OpenAPI document. */
export const openProblems = () => ({ 400: problemResponse([400]) })

/** `id` of a command and the like in a path. */
export const idParams = z.object({ id: z.string().min(1).max(1_000) })
