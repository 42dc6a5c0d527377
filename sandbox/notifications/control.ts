import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { body, checked } from '../http/control-request.ts'
import type { World } from '../world.ts'
import { keepForm, readForm } from './form.ts'
import { formSchema } from './model.ts'

const pageQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(5_000).default(100),
})

/** Control routes about notifications: what was sent, and how it is signed. Faults have routes of their own. */
export const registerNotificationControl = (app: FastifyInstance, world: World): void => {
  const { notifications } = world
  app.get('/notifications', async (request) => {
    const { after, limit } = checked(pageQuery, request.query)
    const deliveries = notifications.deliveries(after, limit)
    const items = deliveries.map(({ body: text, dueAt, planned: _planned, ...delivery }) => ({
      ...delivery,
      dueAt: delivery.state === 'waiting' ? new Date(dueAt).toISOString() : null,
      body: JSON.parse(text),
    }))
    const next = items.length === limit ? (items.at(-1)?.id ?? null) : null
    return { form: readForm(world), totals: notifications.totals(), items, next }
  })
  app.put('/notifications', async (request) => {
    keepForm(world, body(formSchema, request))
    return readForm(world)
  })
}
