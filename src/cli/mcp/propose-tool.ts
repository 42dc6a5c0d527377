import { z } from 'zod'

/** The tool with which an agent proposes an event. */
export interface ProposeTool {
  readonly name: 'proposeEvent'
  readonly description: string
  /** JSON Schema of its arguments. */
  readonly inputSchema: { readonly type: 'object'; readonly [member: string]: unknown }
}

const documentSchema = z.looseObject({
  paths: z.looseObject({
    '/v1/proposals': z.looseObject({
      post: z.looseObject({
        requestBody: z.looseObject({
          content: z.looseObject({ 'application/json': z.looseObject({ schema: z.looseObject({ type: z.literal('object') }) }) }),
        }),
      }),
    }),
  }),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
})

const eventSchema = z.looseObject({
  description: z.string(),
  properties: z.looseObject({ type: z.looseObject({ const: z.string().startsWith('erp.') }) }),
  examples: z.array(z.looseObject({ data: z.unknown() })).min(1),
})

const introduction = `Proposes an event of the ERP. Nothing happens until a person approves it in the console. The answer has the effect that it would have now.
Propose only what the user has asked for, and say in the reason why. The types, each with an example of its data:`

/** The tool of an OpenAPI document, with an example of each type of event. */
export const buildProposeTool = (document: unknown): ProposeTool => {
  const { paths, components } = documentSchema.parse(document)
  const { schema } = paths['/v1/proposals'].post.requestBody.content['application/json']
  const examples = Object.values(components.schemas).flatMap((candidate) => {
    const event = eventSchema.safeParse(candidate)
    if (!event.success) return []
    const { description, properties, examples: given } = event.data
    return [`- ${properties.type.const}: ${description} ${JSON.stringify(given[0]?.data)}`]
  })
  return { name: 'proposeEvent', description: [introduction, ...examples].join('\n'), inputSchema: schema }
}
