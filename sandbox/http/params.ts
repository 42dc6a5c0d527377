import type { FastifyRequest } from 'fastify'

/** The placeholders of the path, decoded. */
export const readParams = ({ params }: FastifyRequest): Readonly<Record<string, string>> => {
  if (typeof params !== 'object' || params === null) return {}
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))
}
