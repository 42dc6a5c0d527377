import { z } from 'zod'
import type { CliContext } from '../../context.ts'
import { readList } from '../../output/lists.ts'
import { print, printJson, printMessage, printTable } from '../../output/terminal.ts'

const alarmSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  sellerId: z.string(),
  kind: z.string(),
  severity: z.string(),
  message: z.string(),
  raisedAt: z.string(),
  silencedUntil: z.string().nullable(),
})

const isSilenced = (until: string | null): boolean => until !== null && Date.parse(until) > Date.now()

/** `tallyman alarms list`. */
export const listAlarms = async ({ terminal, daemon }: CliContext, limit: number): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/alarms', alarmSchema, limit, {})
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    [
      { heading: 'id' },
      { heading: 'severity' },
      { heading: 'kind' },
      { heading: 'raised' },
      { heading: 'seller' },
      { heading: 'message' },
    ],
    items.map((alarm) => [
      String(alarm.id),
      isSilenced(alarm.silencedUntil) ? 'silenced' : alarm.severity,
      alarm.kind,
      alarm.raisedAt,
      alarm.sellerId,
      alarm.message,
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

/** `tallyman alarms resolve`: closes the alarm of a past incident. Alarms of ongoing conditions close with their cause. */
export const resolveAlarm = async (
  { terminal, daemon }: CliContext,
  { id, actor, reason }: { readonly id: string; readonly actor: string; readonly reason: string | null },
): Promise<void> => {
  const answer = await daemon.post(`/v1/alarms/${encodeURIComponent(id)}/resolve`, z.unknown(), { body: { actor, reason } })
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `alarm ${id} is closed`)
}

/** `tallyman alarms silence`: the alarm stays open and is counted separately until the given time. */
export const silenceAlarm = async (
  { terminal, daemon }: CliContext,
  { id, actor, reason, until }: { readonly id: string; readonly actor: string; readonly reason: string; readonly until: Date },
): Promise<void> => {
  const body = { actor, reason, until: until.toISOString() }
  const answer = await daemon.post(`/v1/alarms/${encodeURIComponent(id)}/silence`, z.unknown(), { body })
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `alarm ${id} is silenced until ${until.toISOString()}`)
}
