import { type core, z } from 'zod'
import { allChangeTypes, changeTypes } from './catalogue.ts'

// Generates the page docs/changes.md from the catalogue.

type Schema = core.JSONSchema._JSONSchema

const buildName = (type: string): string => (type === 'string' ? 'text' : type)

const pickShape = (schema: Schema): string => {
  if (typeof schema === 'boolean') return 'anything'
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(pickShape).join(' or ')
  if (schema.type === 'array') return `array of ${[schema.items ?? true].flat().map(pickShape).join(', ')}`
  if (schema.properties !== undefined) return `object (${Object.keys(schema.properties).join(', ')})`
  if (schema.format === 'date-time') return 'time'
  return [schema.type ?? 'anything'].flat().map(buildName).join(' or ')
}

const listRows = ({ properties = {}, required = [] }: core.JSONSchema.BaseSchema): readonly string[] =>
  Object.entries(properties).map(([name, member]) => {
    const optional = required.includes(name) ? '' : ', may be absent'
    const note = typeof member === 'boolean' || member.description === undefined ? '' : `. ${member.description}`
    return `- \`${name}\`: ${pickShape(member)}${optional}${note}`
  })

const wrapped = (line: string): string => {
  const lines = ['']
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length >= 155) lines.push(`  ${word}`)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.join('\n')
}

const formatSection = (type: (typeof allChangeTypes)[number]): string => {
  const { meaning, ids, maybe, data, example } = changeTypes[type]
  const idNames = [...ids.map((id) => `\`${id}\``), ...maybe.map((id) => `\`${id}\` (or null)`)]
  const rows = listRows(z.toJSONSchema(data, { io: 'output' }))
  return [
    `### \`${type}\``,
    wrapped(`${meaning}${idNames.length === 0 ? '' : ` Ids: ${idNames.join(', ')}.`}`).replaceAll('\n  ', '\n'),
    '',
    ...(rows.length === 0
      ? ['`data` is empty.', '']
      : [...rows.map(wrapped), '', '```json', JSON.stringify(example, null, 2), '```', '']),
  ].join('\n')
}

const introduction = `# Changes: what the feed contains

<!-- Made from src/domain/changes by npm run changes-page. -->
Every committed change is recorded in \`warehouse.changes\`. \`GET /v1/changes\` returns the changes in ascending order, without gaps.

\`\`\`json
{
  "seq": "4711",
  "sellerId": "seller-1",
  "type": "order.missing",
  "purchaseOrderId": "1796277083022",
  "lineNumber": null,
  "returnOrderId": null,
  "commandId": null,
  "data": {},
  "occurredAt": "2026-03-01T09:30:00.000Z"
}
\`\`\`

## Reading
- **Pages.** \`?after=<seq>\` returns the changes after this number; \`nextCursor\` is the next position, also when a page is empty. \`after=now\` starts with future
  changes. \`limit\` is at most 1,000.
- **Long poll.** \`?wait=<seconds>\` delays an empty answer until there is a change, up to 60 seconds.
- **Server-sent events.** \`Accept: text/event-stream\`: messages without an event name, so that \`onmessage\` of any \`EventSource\` receives them; \`id\` is the
  sequence number, and \`Last-Event-ID\` resumes after it.
- **CloudEvents.** \`Accept: application/cloudevents-batch+json\`: an array of CloudEvents 1.0. \`id\` is the sequence number, \`source\` is \`/tallyman/\` and the
  seller, \`subject\` the order, return or command; the ids are extension attributes in lower case (\`purchaseorderid\`). The header \`link\` has the next page.
- **CSV.** \`Accept: text/csv\`: all changes from the position up to now, as a stream.
- **Filters.** \`types\` (separated by commas; \`order.*\` means all types that begin with \`order.\`), \`sellerId\`, \`purchaseOrderId\`. They apply to every format. The
  position also advances past changes that do not match, so no change is skipped or returned twice.
- **Errors.** 410 \`changes-gone\`: the next change has been removed (\`RETAIN_CHANGES\`). 400 \`position-beyond-end\`: the feed has not reached this position; it
  belongs to another database, or this one was restored from a backup. Both errors contain the position to continue with, after reading the tables.

The first reading of a complete list (taxonomy, targets, sales channels) is one change: \`….loaded\`. A change whose data included an erased buyer has the data
\`{"erased": true}\`. Later versions may add types and members; a reader must ignore unknown ones.

The package exports the changes as TypeScript types, generated from the same schemas: \`import type { Change, ChangeOf } from 'tallyman/types'\`.

## Types
Times are ISO 8601 in UTC; money and other decimals are text.

`

/** The text of docs/changes.md. */
export const buildChangesPage = (): string => `${introduction}${allChangeTypes.map(formatSection).join('\n')}`
