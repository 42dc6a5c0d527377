import type { Schemas } from '../lib/api.ts'
import { pluralize } from '../lib/format.ts'
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
  predicted: 'plain',
  withdrawn: 'plain',
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

/** A command as text: `Ship 2 units`. */
export const formatCommand = ({ kind, lines }: Pick<Command, 'kind' | 'lines'>): string => {
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  const verb = verbs[kind] ?? kind
  if (kind === 'acknowledge') return 'Acknowledge the order'
  if (kind === 'correct-shipment') return `Correct the tracking number of ${pluralize(units, 'unit')}`
  if (kind === 'refund-return') return `Refund ${pluralize(units, 'unit')} through the return`
  return units === 0 ? verb : `${verb} ${pluralize(units, 'unit')}`
}

/** The units that a person has decided as applied, if the evidence only covers the rest. */
const explainDecision = ({ evidence, parts }: { evidence: unknown; parts?: Command['parts'] }): readonly string[] => {
  const units = (parts?.applied ?? []).reduce((sum, { quantity }) => sum + quantity, 0)
  if (units === 0 || member(evidence, 'verdict') !== 'applied') return []
  return [`A person decided that ${pluralize(units, 'unit')} had been applied before.`]
}

/** The reason of a state as a sentence. */
export const formatReason = (reason: string): string => `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`

/** Explains the state of a command in sentences: decisions on parts of it, and the evidence of each line. */
export const explainCommand = (
  command: Pick<Command, 'evidence' | 'reason'> & { readonly parts?: Command['parts'] },
): readonly string[] => {
  const { evidence, reason } = command
  const explanation = text(member(evidence, 'explanation'))
  const lines = list(member(evidence, 'lines'))
  const lineSentences = lines.map((line) => {
    const lineExplanation = text(member(line, 'explanation'))
    const sentence = `${lineExplanation.charAt(0).toUpperCase()}${lineExplanation.slice(1)}.`
    return lines.length === 1 ? sentence : `Line ${text(member(line, 'lineNumber'))}: ${sentence}`
  })
  const found = [...explainDecision(command), ...lineSentences, ...(explanation === '' ? [] : [explanation])]
  return found.length > 0 || reason === null ? found : [formatReason(reason)]
}

/** An entry of a request: units of a line, of one parcel or for one reason. */
export interface RequestedUnits {
  readonly lineNumber: string
  readonly quantity: number
  readonly trackingNumber?: string
  readonly reason?: string
}

/** The requested units of a command: shipments by line and parcel, others by line and reason; after a partial decision only the open units. */
export const listRequestedUnits = ({
  kind,
  payload,
  parts,
}: Pick<Command, 'kind' | 'payload' | 'parts'>): readonly RequestedUnits[] => {
  if (parts !== null) return parts.open
  const findQuantity = (entry: unknown) => ({
    lineNumber: text(member(entry, 'lineNumber')),
    quantity: Number(member(entry, 'quantity') ?? 0),
  })
  if (kind === 'ship') {
    return list(member(payload, 'parcels')).flatMap((parcel) =>
      list(member(parcel, 'lines')).map((entry) => ({
        ...findQuantity(entry),
        trackingNumber: text(member(parcel, 'trackingNumber')),
      })),
    )
  }
  return list(member(payload, 'lines')).map((entry) => ({ ...findQuantity(entry), reason: text(member(entry, 'reason')) }))
}
