import { z } from 'zod'
import { Failed } from '../../api-client/errors.ts'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { print, printJson, printMessage, printTable, type Tone } from '../output/terminal.ts'

const webhookSchema = z.looseObject({
  id: z.string(),
  url: z.string(),
  types: z.array(z.string()),
  sellerId: z.string().nullable(),
  state: z.string(),
  reason: z.string().nullish(),
  position: z.string(),
  failingSince: z.string().nullish(),
})

const deliverySchema = z.looseObject({
  id: z.string(),
  changeSequence: z.string().nullable(),
  attempt: z.int(),
  status: z.string(),
  at: z.string().nullable(),
  nextAt: z.string().nullable(),
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
})

const tones: Readonly<Record<string, Tone>> = {
  active: 'good',
  delivered: 'good',
  paused: 'warning',
  pending: 'warning',
  disabled: 'bad',
  failed: 'bad',
}

const paintState = (text: string) => {
  const tone = tones[text]
  return tone === undefined ? text : { text, tone }
}

const buildPath = (id: string): string => `/v1/webhooks/${encodeURIComponent(id)}`

/** `tallyman webhooks list`. */
export const listWebhooks = async ({ terminal, daemon }: CliContext, limit: number): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/webhooks', webhookSchema, limit)
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'id' },
      { heading: 'state' },
      { heading: 'url' },
      { heading: 'types' },
      { heading: 'seller' },
      { heading: 'failing since' },
      { heading: 'reason' },
    ],
    items.map(({ id, state, url, types, sellerId, failingSince, reason }) => [
      id,
      paintState(state),
      url,
      types.length === 0 ? 'all' : types.join(','),
      sellerId ?? 'all',
      failingSince ?? '',
      reason ?? '',
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

/** `tallyman webhooks add`: prints the secret, once. */
export const addWebhook = async (
  { terminal, daemon }: CliContext,
  { url, types, sellerId, after }: { url: string; types: string | null; sellerId: string | null; after: string | null },
): Promise<void> => {
  const added = await daemon.post('/v1/webhooks', webhookSchema.extend({ secret: z.string() }), {
    body: { url, sellerId, after, ...(types === null ? {} : { types }) },
  })
  if (terminal.json) return printJson(terminal, added)
  print(terminal, `webhook ${added.id} is active`)
  print(terminal, `secret: ${added.secret}`)
  printMessage(terminal, `the secret is not shown again; send a test message with \`tallyman webhooks test ${added.id}\``)
}

/** `tallyman webhooks remove`. */
export const removeWebhook = async ({ terminal, daemon }: CliContext, id: string): Promise<void> => {
  const answer = await daemon.delete(buildPath(id), z.unknown())
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `webhook ${id} is removed`)
}

/** `tallyman webhooks pause | resume`. */
export const setWebhookState = async (
  { terminal, daemon }: CliContext,
  { id, state }: { readonly id: string; readonly state: 'active' | 'paused' },
): Promise<void> => {
  const changed = await daemon.patch(buildPath(id), webhookSchema, { body: { state } })
  if (terminal.json) printJson(terminal, changed)
  else
    print(
      terminal,
      `webhook ${id} is ${changed.state}${state === 'active' ? '; waiting messages are sent now' : '; changes are kept until it is resumed'}`,
    )
}

/** `tallyman webhooks rotate`: prints the new secret, once. */
export const rotateWebhook = async (
  { terminal, daemon }: CliContext,
  { id, overlapSeconds }: { readonly id: string; readonly overlapSeconds: number },
): Promise<void> => {
  const rotated = await daemon.post(
    `${buildPath(id)}/rotate`,
    z.looseObject({ secret: z.string(), oldSecretUntil: z.string() }),
    {
      body: { overlapSeconds },
    },
  )
  if (terminal.json) return printJson(terminal, rotated)
  print(terminal, `secret: ${rotated.secret}`)
  printMessage(
    terminal,
    `the secret is not shown again; messages are also signed with the old one until ${rotated.oldSecretUntil}`,
  )
}

const testSchema = z.looseObject({
  delivered: z.boolean(),
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
})

const formatOutcome = ({ httpStatus, error }: { readonly httpStatus: number | null; readonly error: string | null }): string =>
  httpStatus === null ? (error ?? '') : `HTTP ${httpStatus}`

/** `tallyman webhooks test`. @throws Failed when the message was not delivered */
export const testWebhook = async ({ terminal, daemon }: CliContext, id: string): Promise<void> => {
  const result = await daemon.post(`${buildPath(id)}/test`, testSchema)
  if (terminal.json) printJson(terminal, result)
  else if (result.delivered)
    print(terminal, `the test message was delivered: ${formatOutcome(result)} in ${Math.round(result.durationMs)} ms`)
  if (!result.delivered)
    throw new Failed(`the test message was not delivered: ${formatOutcome(result)}`, [`check the receiver of webhook ${id}`])
}

/** `tallyman webhooks redeliver`: by ids of deliveries, or by a range of changes, both ends excluded. */
export const redeliverWebhook = async (
  { terminal, daemon }: CliContext,
  {
    id,
    selection,
  }: {
    readonly id: string
    readonly selection: { readonly ids: readonly string[] } | { readonly after: string; readonly before: string }
  },
): Promise<void> => {
  const schema = z.looseObject({ redelivered: z.int(), missing: z.array(z.string()), nextAfter: z.string().nullable() })
  let redelivered = 0
  let missing: readonly string[] = []
  let body: Readonly<Record<string, unknown>> = selection
  for (;;) {
    const answer = await daemon.post(`${buildPath(id)}/redeliver`, schema, { body })
    redelivered += answer.redelivered
    missing = [...missing, ...answer.missing]
    if (answer.nextAfter === null) break
    body = { ...body, after: answer.nextAfter }
  }
  if (terminal.json) printJson(terminal, { redelivered, missing })
  else print(terminal, `${redelivered} ${redelivered === 1 ? 'message is' : 'messages are'} sent again`)
  if (missing.length > 0)
    throw new Failed(`these cannot be sent again: ${missing.join(', ')}`, [
      'they are unknown, tests, or their changes were removed',
    ])
}

/** `tallyman webhooks deliveries`. */
export const listWebhookDeliveries = async (
  { terminal, daemon }: CliContext,
  { id, status, limit }: { readonly id: string; readonly status: string | null; readonly limit: number },
): Promise<void> => {
  const { items, more } = await readList(daemon, `${buildPath(id)}/deliveries`, deliverySchema, limit, { status })
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'id' },
      { heading: 'change' },
      { heading: 'status' },
      { heading: 'attempt' },
      { heading: 'last' },
      { heading: 'at' },
      { heading: 'next' },
    ],
    items.map((delivery) => [
      delivery.id,
      delivery.changeSequence ?? 'test',
      paintState(delivery.status),
      String(delivery.attempt),
      formatOutcome(delivery),
      delivery.at ?? '',
      delivery.nextAt ?? '',
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}
