import { z } from 'zod'
import { type App, problems } from '../app.ts'
import { Problem } from '../problems.ts'
import type { RouteParts } from './parts.ts'

const troubleSchema = z
  .object({
    heldOrder: z
      .string()
      .meta({ description: 'An order whose shipment was interrupted after a part of its units: its command is held soon.' }),
    lateOrder: z.string().meta({ description: 'An order that is late, with an event that was rejected.' }),
  })
  .meta({ id: 'Trouble' })

/** What only a demonstration has. */
export const demonstrationRoutes = (app: App, { services, stopping }: RouteParts): void => {
  app.route({
    method: 'POST',
    url: '/v1/demonstration/trouble',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['demonstration'],
      summary: 'Make trouble to look at, in a demonstration',
      description:
        'Places an order whose shipment is held, and a late order with a rejected event, and has the sandbox list a return that cannot be read. Only a ' +
        'demonstration has this; any other daemon answers 404.',
      response: { 201: troubleSchema, ...problems(404) },
    },
    handler: async (_request, reply) => {
      if (services.makeTrouble === null) throw new Problem('not-found', { detail: 'This daemon is not a demonstration.' })
      return reply.code(201).send(await services.makeTrouble(stopping))
    },
  })
}
