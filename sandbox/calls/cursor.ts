import { createHmac } from 'node:crypto'
import { unauthorized } from '../core/errors.ts'
import type { World } from '../world.ts'
import type { Query } from './query.ts'

const mark = '&cursorMark='

/**
 * A cursor is a whole query string that begins with `?` and must be returned byte for byte (public facts, section 2.2). The
 * checksum at its end verifies this: a client that decodes or re-encodes it gets 401, as on the live service.
 */
export const buildCursor = (world: World, parameters: readonly (readonly [string, string | number | null])[]): string => {
  const raw = parameters
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')
  return `?${raw}${mark}${buildMark(world, raw)}`
}

/** Whether the query is a cursor. Throws 401 for a cursor that was changed on its way. */
export const isCursor = (world: World, query: Query): boolean => {
  if (query.get('hasMoreElements') === null) return false
  const at = query.raw.lastIndexOf(mark)
  const intact = at !== -1 && query.raw.slice(at + mark.length) === buildMark(world, query.raw.slice(0, at))
  if (!intact)
    throw unauthorized('Unauthorized token or incorrect authorization header. Please verify correct format of the cursor')
  return true
}

const buildMark = (world: World, raw: string): string =>
  encodeURIComponent(createHmac('sha256', `cursor:${world.settings.seed}`).update(raw).digest('base64').slice(0, 20))
