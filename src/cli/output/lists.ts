import type { z } from 'zod'
import type { Daemon, ListOptions } from '../../api-client/daemon.ts'

/** Reads the records of a list up to a maximum, and whether there are more. */
export const readList = async <Schema extends z.ZodType>(
  daemon: Daemon,
  path: string,
  schema: Schema,
  limit: number,
  query: ListOptions['query'] = {},
): Promise<{ readonly items: z.infer<Schema>[]; readonly more: boolean }> => {
  const items: z.infer<Schema>[] = []
  for await (const item of daemon.list(path, schema, { query, pageSize: 1_000, max: limit + 1 })) items.push(item)
  return { items: items.slice(0, limit), more: items.length > limit }
}
