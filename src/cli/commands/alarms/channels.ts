import { z } from 'zod'
import { Failed } from '../../../api-client/errors.ts'
import type { CliContext } from '../../context.ts'
import { readList } from '../../output/lists.ts'
import { print, printJson, printMessage, printTable, type Tone } from '../../output/terminal.ts'

const channelSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  target: z.string(),
  severities: z.array(z.string()),
  concerns: z.array(z.string()),
  sellerIds: z.array(z.string()),
  hours: z.looseObject({ from: z.string(), to: z.string(), timeZone: z.string(), weekdays: z.array(z.int()) }).nullable(),
  repeatHours: z.int().nullable(),
  state: z.string(),
  failingSince: z.string().nullable(),
  lastError: z.string().nullable(),
})
type Channel = z.infer<typeof channelSchema>

const buildPath = (id: string): string => `/v1/alarm-channels/${encodeURIComponent(id)}`

const paintState = ({ state, failingSince }: Channel): { readonly text: string; readonly tone: Tone } =>
  state !== 'active'
    ? { text: state, tone: 'warning' }
    : failingSince === null
      ? { text: 'active', tone: 'good' }
      : { text: 'failing', tone: 'bad' }

const weekdays = ['', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const allDays = 7

const formatHours = (hours: Channel['hours']): string => {
  if (hours === null) return 'always'
  const days = hours.weekdays.length === allDays ? '' : ` ${hours.weekdays.map((day) => weekdays[day] ?? day).join(',')}`
  return `${hours.from}-${hours.to} ${hours.timeZone}${days}`
}

/** `tallyman alarms channels list`. */
export const listChannels = async ({ terminal, daemon }: CliContext, limit: number): Promise<void> => {
  const { items, more } = await readList(daemon, '/v1/alarm-channels', channelSchema, limit)
  if (terminal.json) return printJson(terminal, { items, more })
  printTable(
    terminal,
    ['id', 'state', 'kind', 'name', 'address', 'alarms', 'sellers', 'hours', 'repeated', 'error'].map((heading) => ({ heading })),
    items.map((channel) => [
      channel.id,
      paintState(channel),
      channel.kind,
      channel.name,
      channel.target,
      [channel.severities.join(','), ...(channel.concerns.length === 0 ? [] : [`for ${channel.concerns.join(',')}`])].join(' '),
      channel.sellerIds.length === 0 ? 'all' : channel.sellerIds.join(','),
      formatHours(channel.hours),
      channel.repeatHours === null ? 'never' : `after ${channel.repeatHours} h`,
      channel.lastError ?? '',
    ]),
  )
  if (more) printMessage(terminal, 'there are more; --limit shows them')
}

/** Members of a channel that a command sets; absent ones stay, or have their defaults. */
export interface ChannelMembers {
  readonly name?: string
  readonly url?: string
  readonly recipients?: readonly string[]
  readonly severities?: readonly string[]
  readonly concerns?: readonly string[]
  readonly sellerIds?: readonly string[]
  readonly hours?: object | null
  readonly repeatHours?: number | null
  readonly state?: 'active' | 'paused'
}

/** `tallyman alarms channels add`. */
export const addChannel = async (
  { terminal, daemon }: CliContext,
  channel: ChannelMembers & { readonly name: string; readonly kind: string },
): Promise<void> => {
  const added = await daemon.post('/v1/alarm-channels', channelSchema, { body: { ...channel } })
  if (terminal.json) return printJson(terminal, added)
  print(terminal, `channel ${added.id} is active`)
  printMessage(terminal, `send a test message with \`tallyman alarms channels test ${added.id}\``)
}

/** `tallyman alarms channels change | pause | resume`. */
export const changeChannel = async ({ terminal, daemon }: CliContext, id: string, change: ChannelMembers): Promise<void> => {
  const changed = await daemon.patch(buildPath(id), channelSchema, { body: { ...change } })
  if (terminal.json) printJson(terminal, changed)
  else print(terminal, `channel ${id} is ${changed.state}${changed.state === 'active' ? '; waiting alarms are sent now' : ''}`)
}

/** `tallyman alarms channels remove`. */
export const removeChannel = async ({ terminal, daemon }: CliContext, id: string): Promise<void> => {
  const answer = await daemon.delete(buildPath(id), z.unknown())
  if (terminal.json) printJson(terminal, answer)
  else print(terminal, `channel ${id} is removed`)
}

const testSchema = z.looseObject({
  delivered: z.boolean(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
})

/** `tallyman alarms channels test`. @throws Failed when the message was not delivered */
export const testChannel = async ({ terminal, daemon }: CliContext, id: string): Promise<void> => {
  const result = await daemon.post(`${buildPath(id)}/test`, testSchema)
  const { delivered, status, error, durationMs } = result
  const outcome = [...(status === null ? [] : [`status ${status}`]), ...(error === null ? [] : [error])].join(', ')
  if (terminal.json) printJson(terminal, result)
  else if (delivered) print(terminal, `the test message was delivered: ${outcome} in ${Math.round(durationMs)} ms`)
  if (!delivered) {
    const note = `docs/alarm-channels.md explains the errors; \`tallyman alarms channels change ${id}\` corrects the address`
    throw new Failed(`the test message was not delivered: ${outcome}`, [note])
  }
}
