import { type Database, textOf } from './database.ts'

/** Single values that must survive a restart: clock offset, sequence numbers, faults, limits. */
export interface Meta {
  get(key: string): string | null
  set(key: string, value: string): void
  /** Takes `count` numbers of a named sequence and gives the first. */
  sequence(key: string, count: number): number
}

export function createMeta(database: Database): Meta {
  const get = (key: string): string | null => {
    const row = database.get('SELECT value FROM meta WHERE key = ?', key)
    return row === undefined ? null : textOf(row, 'value')
  }
  const set = (key: string, value: string): void => {
    database.run('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value', key, value)
  }
  return {
    get,
    set,
    sequence(key, count) {
      const first = Number(get(`sequence:${key}`) ?? '1')
      set(`sequence:${key}`, String(first + count))
      return first
    },
  }
}
