import { z } from 'zod'
import type { CliContext } from './context.ts'
import { count, duration, print, printJson, printTable, say } from './terminal.ts'

const commandSchema = z.looseObject({
  commandId: z.string(),
  sellerId: z.string(),
  purchaseOrderId: z.string().nullable(),
  kind: z.string(),
  lines: z.array(z.string()),
  actBy: z.string(),
  expectedAt: z.string().nullable(),
})

const forecastSchema = z.looseObject({
  from: z.string(),
  until: z.string(),
  sellerIds: z.array(z.string()),
  assumptions: z.array(z.string()),
  backfills: z.array(
    z.looseObject({
      sellerId: z.string(),
      resource: z.string(),
      windowsLeft: z.number(),
      pages: z.number(),
      basis: z.string(),
      endsAt: z.string().nullable(),
    }),
  ),
  operations: z.array(
    z.looseObject({
      sellerId: z.string(),
      operation: z.string(),
      tokens: z.number(),
      perMs: z.number(),
      calls: z.number(),
      share: z.number(),
      waits: z.number(),
    }),
  ),
  commands: z.looseObject({
    open: z.number(),
    sent: z.number(),
    late: z.number(),
    unsent: z.number(),
    lateOnes: z.array(commandSchema),
  }),
  shipBy: z.looseObject({
    atRisk: z.array(commandSchema),
    waitingForErp: z.array(
      z.looseObject({ sellerId: z.string(), purchaseOrderId: z.string(), wants: z.string(), by: z.string() }),
    ),
    waitingForErpCount: z.number(),
  }),
})

/** A day of a hundred sellers takes the daemon some seconds, more while it has other work. */
const timeoutMs = 120_000

const bases: Readonly<Record<string, string>> = {
  'windows-read': 'as many as the windows read so far',
  'window-under-way': 'as many as the window under way',
  nothing: 'at least: nothing is known of them',
}

const minuteText = (text: string): string => `${text.slice(0, 16).replace('T', ' ')}Z`
/** To the second: what is late by less than a minute is late. */
const secondText = (text: string): string => `${text.slice(0, 19).replace('T', ' ')}Z`
const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`

/** `tallyman forecast`: when backfills will end, and which commands and ship-by dates are at risk. */
export const showForecast = async (
  { terminal, daemon }: CliContext,
  { sellerId, hours }: { readonly sellerId: string | null; readonly hours: number },
): Promise<void> => {
  const forecast = await daemon.get('/v1/forecast', forecastSchema, { query: { sellerId, hours }, timeoutMs })
  if (terminal.json) return printJson(terminal, forecast)
  const { from, until, backfills, operations, commands, shipBy, assumptions } = forecast
  const notWithin = `not until ${minuteText(until)}`

  print(terminal, `from ${minuteText(from)} to ${minuteText(until)}, ${count(forecast.sellerIds.length, 'seller')}`)
  print(terminal, `\nbackfills: ${backfills.length === 0 ? 'none' : backfills.length}`)
  if (backfills.length > 0)
    printTable(
      terminal,
      [
        { heading: 'seller' },
        { heading: 'resource' },
        { heading: 'windows left', align: 'right' },
        { heading: 'pages left', align: 'right' },
        { heading: 'ends' },
        { heading: 'based on' },
      ],
      backfills.map((one) => [
        one.sellerId,
        one.resource,
        one.windowsLeft.toLocaleString('en-US'),
        `~${one.pages.toLocaleString('en-US')}`,
        one.endsAt === null
          ? { text: notWithin, tone: 'warning' }
          : `${minuteText(one.endsAt)} (in ${duration(Date.parse(one.endsAt) - Date.parse(from))})`,
        bases[one.basis] ?? one.basis,
      ]),
    )

  print(terminal, '\nrate budgets, the most used first:')
  printTable(
    terminal,
    [
      { heading: 'seller' },
      { heading: 'operation' },
      { heading: 'limit', align: 'right' },
      { heading: 'calls', align: 'right' },
      { heading: 'used', align: 'right' },
      { heading: 'waits', align: 'right' },
    ],
    operations.map((one) => [
      one.sellerId,
      one.operation,
      `${one.tokens} in ${duration(one.perMs)}`,
      one.calls.toLocaleString('en-US'),
      percent(one.share),
      one.waits === 0 ? '' : one.waits.toLocaleString('en-US'),
    ]),
  )

  print(
    terminal,
    `\ncommands: ${commands.open} open, ${commands.sent} will be sent, ${commands.unsent} will not, ${commands.late} late`,
  )
  if (commands.lateOnes.length > 0)
    printTable(
      terminal,
      [
        { heading: 'order' },
        { heading: 'lines' },
        { heading: 'kind' },
        { heading: 'wanted by' },
        { heading: 'sent' },
        { heading: 'seller' },
      ],
      commands.lateOnes.map(({ purchaseOrderId, lines, kind, actBy, expectedAt, sellerId: of }) => [
        purchaseOrderId ?? '',
        lines.join(', '),
        kind,
        secondText(actBy),
        { text: expectedAt === null ? notWithin : secondText(expectedAt), tone: 'bad' },
        of,
      ]),
    )

  print(terminal, `\nship-by dates at risk: ${count(shipBy.atRisk.length, 'queued shipment')}`)
  for (const { purchaseOrderId, actBy, expectedAt } of shipBy.atRisk)
    print(
      terminal,
      `  order ${purchaseOrderId ?? ''}: wanted by ${secondText(actBy)}, leaves ${expectedAt === null ? notWithin : secondText(expectedAt)}`,
    )
  print(terminal, `waiting for the ERP: ${count(shipBy.waitingForErpCount, 'deadline')}`)
  for (const { purchaseOrderId, wants, by } of shipBy.waitingForErp) {
    const passed = Date.parse(by) < Date.parse(from) ? ', which has passed' : ''
    print(terminal, `  order ${purchaseOrderId}: ${wants} by ${minuteText(by)}${passed}`)
  }

  say(terminal, '\nassumed:')
  for (const assumption of assumptions) say(terminal, `  ${assumption}`)
}
