import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { gatewayRefusal } from '../core/errors.ts'
import { body } from '../http/control-request.ts'
import type { World } from '../world.ts'

/** The published groups of operations. */
const groups = [
  ...['Returns', 'Items', 'Sandbox', 'Lagtime', 'Promos', 'Orders', 'Authentication', 'Price', 'Refunds', 'Authorization'],
  'Inventory',
] as const

const group = z.enum(groups)
const status = z.enum(['OPERATIONAL', 'SERVICE_DEGRADATION', 'SERVICE_OUTAGE'])
const changedSchema = z.partialRecord(group, z.strictObject({ status, lastUpdatedTime: z.string() }))
/** Body of `PUT /_sandbox/api-status`: the status of some groups; all others are operational. */
const bodySchema = z.partialRecord(group, status)

const key = 'api-status'

/** `GET /v3/utilities/apiStatus`, on the live service only: what it reports about itself (public facts, section 13), whether or not it is true. */
export const describeApiStatus = ({ settings, meta }: World, now: number): object => {
  if (!settings.dialect.liveOperations) throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
  const changed = meta.read(key, changedSchema)
  const operational = { status: 'OPERATIONAL', lastUpdatedTime: new Date(now).toISOString() }
  return { apiStatuses: groups.map((apiGroup) => ({ apiGroup, ...(changed[apiGroup] ?? operational) })) }
}

/** The control route that makes it report an outage. */
export const registerApiStatusControl = (app: FastifyInstance, { clock, meta }: World): void => {
  app.put('/api-status', async (request) => {
    const lastUpdatedTime = new Date(clock.now()).toISOString()
    const given = Object.entries(body(bodySchema, request)).map(([name, reported]) => [
      name,
      { status: reported, lastUpdatedTime },
    ])
    const changed = changedSchema.parse(Object.fromEntries(given))
    meta.keep(key, changed)
    return changed
  })
}
