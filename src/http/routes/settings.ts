import { z } from 'zod'
import { type App, problems } from '../app.ts'
import type { RouteParts } from './parts.ts'

const settingSchema = z
  .object({
    name: z.string().meta({ description: 'Name of the variable.' }),
    meaning: z.string().meta({ description: 'A sentence with code in backticks.' }),
    value: z.string().nullable().meta({ description: 'In the syntax of the variable; null: nothing is set, or it is a secret.' }),
    secret: z.boolean().meta({ description: 'Its value is never shown.' }),
    isSet: z.boolean().meta({ description: 'Whether there is a value, a default included.' }),
    from: z.enum(['default', 'environment', 'file']).meta({ description: 'file: the variable with `_FILE` names it.' }),
  })
  .meta({ id: 'Setting' })

/** The effective settings. */
export const settingRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/settings',
    config: { needs: ['read', 'all'] },
    schema: {
      tags: ['settings'],
      summary: 'The effective settings and their sources',
      description: 'Settings of the answering process, as of its start. Secrets are listed without their values.',
      response: {
        200: z.object({
          items: z.array(settingSchema).readonly(),
          unknown: z
            .array(z.string())
            .readonly()
            .meta({ description: 'Variables with the prefix of a setting that are not settings: they have no effect.' }),
        }),
        ...problems(),
      },
    },
    handler: async () => ({ items: services.settings.effective, unknown: services.settings.unknown }),
  })
}
