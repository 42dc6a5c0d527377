import type { z } from 'zod'
import { type Database, toText } from './database.ts'

/** Single values that must survive a restart: clock offset, sequence numbers, faults, limits. */
export interface Meta {
  get(key: string): string | null
  set(key: string, value: string): void
  /** What is kept under the key as JSON; when nothing is, what the schema makes of `otherwise`, by default of `{}`. */
  read<T>(key: string, schema: z.ZodType<T>, otherwise?: unknown): T
  keep(key: string, value: unknown): void
  /** Takes `count` numbers of a named sequence and gives the first. */
  sequence(key: string, count: number): number
}

export const createMeta = (database: Database): Meta => {
  const get = (key: string): string | null => {
    const row = database.get('SELECT value FROM meta WHERE key = ?', key)
    return row === undefined ? null : toText(row, 'value')
  }
  const set = (key: string, value: string): void => {
    database.run('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value', key, value)
  }
  return {
    get,
    set,
    read(key, schema, otherwise = {}) {
      const stored = get(key)
      return schema.parse(stored === null ? otherwise : JSON.parse(stored))
    },
    keep: (key, value) => set(key, JSON.stringify(value)),
    sequence(key, count) {
      const first = Number(get(`sequence:${key}`) ?? '1')
      set(`sequence:${key}`, String(first + count))
      return first
    },
  }
}
