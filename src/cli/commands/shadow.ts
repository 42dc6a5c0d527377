import { z } from 'zod'
import type { CliContext } from '../context.ts'
import { readList } from '../output/lists.ts'
import { print, printJson, printMessage, printTable, type Tone } from '../output/terminal.ts'

const commandSchema = z.looseObject({
  commandId: z.string(),
  kind: z.string(),
  verdict: z.string(),
  laterSeconds: z.number().nullable(),
  differences: z.array(z.looseObject({ kind: z.string(), lineNumber: z.string(), predicted: z.string(), shown: z.string() })),
})
const orderSchema = z.looseObject({
  sellerId: z.string(),
  purchaseOrderId: z.string(),
  verdict: z.string(),
  commands: z.array(commandSchema),
  unpredicted: z.array(z.looseObject({ lineNumber: z.string(), kind: z.string(), quantity: z.number() })),
})
const countsSchema = z.looseObject({
  difference: z.number(),
  missing: z.number(),
  unpredicted: z.number(),
  pending: z.number(),
  agreement: z.number(),
  complete: z.boolean(),
})

/** Which orders to show; null: any. */
export interface ShadowReportFilter {
  readonly sellerId: string | null
  readonly purchaseOrderId: string | null
  readonly verdict: string | null
  readonly kind: string | null
  readonly difference: string | null
  readonly from: string | null
  readonly limit: number
}

const tones: Readonly<Record<string, Tone>> = {
  difference: 'bad',
  missing: 'bad',
  unpredicted: 'bad',
  pending: 'warning',
  agreement: 'good',
}

const verdictCell = (verdict: string) => {
  const tone = tones[verdict]
  return tone === undefined ? verdict : { text: verdict, tone }
}

const formatLater = (seconds: number | null): string => {
  if (seconds === null) return ''
  const minutes = Math.round(Math.abs(seconds) / 60)
  return minutes === 0 ? 'same minute' : `${minutes} min ${seconds < 0 ? 'earlier' : 'later'}`
}

const listRows = ({ sellerId, purchaseOrderId, commands, unpredicted }: z.infer<typeof orderSchema>) => [
  ...commands.map(({ kind, verdict, laterSeconds, differences }) => [
    purchaseOrderId,
    verdictCell(verdict),
    kind,
    differences
      .map(({ kind: what, lineNumber, predicted, shown }) => `line ${lineNumber}, ${what}: ${predicted}, shown ${shown}`)
      .join('; '),
    formatLater(laterSeconds),
    sellerId,
  ]),
  ...unpredicted.map(({ lineNumber, kind, quantity }) => [
    purchaseOrderId,
    verdictCell('unpredicted'),
    kind,
    `line ${lineNumber}: ${quantity} without an event`,
    '',
    sellerId,
  ]),
]

/** Column of when the other system acted, after the prediction. */
const timeColumn = 4

/** `tallyman shadow report`: what was predicted, beside what the other system did. */
export const reportShadow = async ({ terminal, daemon }: CliContext, { limit, ...query }: ShadowReportFilter): Promise<void> => {
  const { sellerId, from } = query
  const counts = await daemon.get('/v1/shadow/counts', countsSchema, { query: { sellerId, from } })
  const { items, more } = await readList(daemon, '/v1/shadow', orderSchema, limit, query)
  if (terminal.json) return printJson(terminal, { counts, items, more })
  const { difference, missing, unpredicted, pending, agreement, complete } = counts
  print(
    terminal,
    `orders${complete ? '' : ' (the first ones)'}: ${agreement} agree, ${pending} pending, ${difference} differ, ${missing} missing, ${unpredicted} unpredicted`,
  )
  if (items.length === 0) return printMessage(terminal, 'there is no order to compare')
  const rows = items.flatMap(listRows)
  const hasTimes = rows.some((row) => row[timeColumn] !== '')
  printTable(
    terminal,
    [
      { heading: 'order' },
      { heading: 'verdict' },
      { heading: 'kind' },
      { heading: 'differences' },
      ...(hasTimes ? [{ heading: 'other system acted' }] : []),
      { heading: 'seller' },
    ],
    hasTimes ? rows : rows.map((row) => row.toSpliced(timeColumn, 1)),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}
