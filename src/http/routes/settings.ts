import { z } from 'zod'
import { type App, problems } from '../app.ts'
import type { RouteParts } from './parts.ts'

const settingSchema = z
  .object({
    name: z.string().meta({ description: 'Name of the variable.' }),
    value: z.string().nullable().meta({ description: 'As the variable would say it; null: nothing is set, or it is a secret.' }),
    secret: z.boolean().meta({ description: 'Its value is never shown.' }),
    isSet: z.boolean().meta({ description: 'Whether there is a value, a default included.' }),
    from: z.enum(['default', 'environment', 'file']).meta({ description: 'file: the variable with `_FILE` names it.' }),
  })
  .meta({ id: 'Setting' })

/** The settings in force. */
export const settingRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/settings',
    config: { needs: ['read', 'all'] },
    schema: {
      tags: ['settings'],
      summary: 'The settings that are in force, and where each comes from',
      description: 'Those of the process that answers, as of its start. Secrets are named without their values.',
      response: {
        200: z.object({
          items: z.array(settingSchema).readonly(),
          unknown: z
            .array(z.string())
            .readonly()
            .meta({ description: 'Variables that begin like settings and are none: nothing reads them.' }),
        }),
        ...problems(),
      },
    },
    handler: async () => ({ items: services.settings.effective, unknown: services.settings.unknown }),
  })
}
