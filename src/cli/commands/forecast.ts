import { z } from 'zod'
import { forecastAnswer } from '../../domain/commands/forecast-answer.ts'
import type { CliContext } from '../context.ts'
import { count, duration, print, printJson, printMessage, printTable } from '../output/terminal.ts'

/** Timeout, in milliseconds. A forecast of 100,000 open commands takes a busy daemon some seconds. */
const timeoutMs = 60_000
const answerSchema = forecastAnswer(z.coerce.date())

/** To the second, because a delay of less than a minute counts as late. */
const formatTime = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`
const columns = (...headings: readonly string[]) => headings.map((heading) => ({ heading }))

/** `tallyman forecast`: when commands are sent and backfills end, and which ship-by dates are at risk. */
export const showForecast = async (
  { terminal, daemon }: CliContext,
  { seller, hours, command: requestedId }: { seller?: string; hours: number; command?: string },
): Promise<void> => {
  const forecast = await daemon.get('/v1/forecast', answerSchema, {
    query: { sellerId: seller ?? null, hours, commandId: requestedId ?? null },
    timeoutMs,
  })
  if (terminal.json) return printJson(terminal, forecast)
  const { from, until, sellerIds, assumptions, backfills, operations, commands, command, shipBy } = forecast
  const formatEnd = (time: Date | null): string => (time === null ? `not until ${formatTime(until)}` : formatTime(time))

  print(terminal, `from ${formatTime(from)} to ${formatTime(until)}, ${count(sellerIds.length, 'seller')}`)
  if (command !== null) {
    const { commandId, kind, position, operation, expectedAt } = command
    const when = expectedAt === null ? 'not sent at the current limits' : `sent ${formatTime(expectedAt)}`
    print(terminal, `\n${kind} ${commandId}: ${position === null ? '' : `position ${position} of ${operation}, `}${when}`)
  }
  print(terminal, `\nbackfills: ${backfills.length || 'none'}`)
  if (backfills.length > 0)
    printTable(
      terminal,
      columns('seller', 'resource', 'windows left', 'pages left', 'based on', 'ends'),
      backfills.map((one) => [
        one.sellerId,
        one.resource,
        `${one.windowsLeft}`,
        `~${one.pages}`,
        one.basis,
        formatEnd(one.endsAt),
      ]),
    )
  print(terminal, '\nrate limits, the most used first:')
  printTable(
    terminal,
    columns('seller', 'operation', 'limit', 'calls', 'used', 'open', 'per minute', 'last open one sent'),
    operations.map(({ sellerId, operation, tokens, perMs, calls, share, open, perMinute, lastAt }) => {
      const [limit, last] = [`${tokens} in ${duration(perMs)}`, lastAt === null ? 'never' : formatTime(lastAt)]
      const used = `${(share * 100).toFixed(1)} %`
      return [sellerId, operation, limit, `${calls}`, used, `${open}`, perMinute.toPrecision(3), open === 0 ? '' : last]
    }),
  )
  const { open, sent, unsent, late, lateOnes } = commands
  print(terminal, `\ncommands: ${open} open, ${sent} will be sent, ${unsent} will not, ${late} late`)
  for (const { kind, purchaseOrderId, lines, actBy, expectedAt, sellerId } of lateOnes) {
    const command = [kind, purchaseOrderId ?? '', lines.join(', ')].join(' ')
    print(terminal, `  ${command} of ${sellerId}: due by ${formatTime(actBy)}, sent ${formatEnd(expectedAt)}`)
  }
  print(terminal, `\nship-by dates at risk: ${count(shipBy.atRisk.length, 'queued shipment')}`)
  print(terminal, `waiting for the ERP: ${count(shipBy.waitingForErpCount, 'deadline')}`)
  for (const { purchaseOrderId, wants, by } of shipBy.waitingForErp)
    print(terminal, `  order ${purchaseOrderId}: ${wants} by ${formatTime(by)}${by < from ? ', which has passed' : ''}`)
  printMessage(terminal, '\nassumptions:')
  for (const assumption of assumptions) printMessage(terminal, `  ${assumption}`)
}
