import type { Schemas } from '../lib/api.ts'
import { several } from '../lib/format.ts'
import { list, member, text } from '../lib/json.ts'
import { Badge, type Tone } from './text.tsx'

type Command = Schemas['Command']

const tones: Readonly<Record<Command['state'], Tone>> = {
  pending: 'plain',
  sending: 'plain',
  verifying: 'warn',
  held: 'bad',
  confirmed: 'good',
  rejected: 'bad',
}

/** State of a command. */
export const CommandState = ({ state }: { readonly state: Command['state'] }) => <Badge tone={tones[state]}>{state}</Badge>

/** Address of a command's view. */
export const commandAddress = (id: string): string => `/console/commands/${encodeURIComponent(id)}`

const verbs: Readonly<Record<string, string>> = {
  acknowledge: 'Acknowledge',
  ship: 'Ship',
  cancel: 'Cancel',
  refund: 'Refund',
  'create-shipping-settings': 'Create shipping settings',
}

/** What a command does, in words: `Ship 2 units`. */
export const doing = ({ kind, lines }: Pick<Command, 'kind' | 'lines'>): string => {
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  const verb = verbs[kind] ?? kind
  if (kind === 'acknowledge') return 'Acknowledge the order'
  return units === 0 ? verb : `${verb} ${several(units, 'unit')}`
}

/** What a person has decided to have been applied, where the evidence is of the rest alone: that the rest was applied too. */
const decidedSentences = ({ evidence, parts }: { evidence: unknown; parts?: Command['parts'] }): readonly string[] => {
  const units = (parts?.applied ?? []).reduce((sum, { quantity }) => sum + quantity, 0)
  if (units === 0 || member(evidence, 'verdict') !== 'applied') return []
  return [`A person decided that ${several(units, 'unit')} had been applied before.`]
}

/** Why a command stands where it stands, as sentences: what was decided of a part of it, and what each line tells. */
export const sentences = (
  command: Pick<Command, 'evidence' | 'reason'> & { readonly parts?: Command['parts'] },
): readonly string[] => {
  const { evidence, reason } = command
  const explanation = text(member(evidence, 'explanation'))
  const lines = list(member(evidence, 'lines'))
  const told = lines.map((line) => {
    const said = text(member(line, 'explanation'))
    const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}.`
    return lines.length === 1 ? sentence : `Line ${text(member(line, 'lineNumber'))}: ${sentence}`
  })
  const found = [...decidedSentences(command), ...told, ...(explanation === '' ? [] : [explanation])]
  return found.length > 0 || reason === null ? found : [`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`]
}

/** An entry of a request: units of a line, under a mark of their own. */
export interface AskedUnits {
  readonly lineNumber: string
  readonly quantity: number
  readonly trackingNumber?: string
  readonly reason?: string
}

/** What a command asks for, line by line: of a shipment by parcel, of others by reason; of one that was decided in part, what is left. */
export const askedUnits = ({ kind, payload, parts }: Pick<Command, 'kind' | 'payload' | 'parts'>): readonly AskedUnits[] => {
  if (parts !== null) return parts.open
  const quantityOf = (entry: unknown) => ({
    lineNumber: text(member(entry, 'lineNumber')),
    quantity: Number(member(entry, 'quantity') ?? 0),
  })
  if (kind === 'ship') {
    return list(member(payload, 'parcels')).flatMap((parcel) =>
      list(member(parcel, 'lines')).map((entry) => ({
        ...quantityOf(entry),
        trackingNumber: text(member(parcel, 'trackingNumber')),
      })),
    )
  }
  return list(member(payload, 'lines')).map((entry) => ({ ...quantityOf(entry), reason: text(member(entry, 'reason')) }))
}
