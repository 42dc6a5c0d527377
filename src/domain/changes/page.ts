import { type core, z } from 'zod'
import { allChangeTypes, changeTypes } from './catalogue.ts'

// The page docs/changes.md, made from the catalogue.

type Schema = core.JSONSchema._JSONSchema

const nameOf = (type: string): string => (type === 'string' ? 'text' : type)

const shapeOf = (schema: Schema): string => {
  if (typeof schema === 'boolean') return 'anything'
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(shapeOf).join(' or ')
  if (schema.type === 'array') return `array of ${[schema.items ?? true].flat().map(shapeOf).join(', ')}`
  if (schema.properties !== undefined) return `object (${Object.keys(schema.properties).join(', ')})`
  if (schema.format === 'date-time') return 'time'
  return [schema.type ?? 'anything'].flat().map(nameOf).join(' or ')
}

const rowsOf = ({ properties = {}, required = [] }: core.JSONSchema.BaseSchema): readonly string[] =>
  Object.entries(properties).map(([name, member]) => {
    const optional = required.includes(name) ? '' : ', may be absent'
    const note = typeof member === 'boolean' || member.description === undefined ? '' : `. ${member.description}`
    return `- \`${name}\`: ${shapeOf(member)}${optional}${note}`
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

const sectionOf = (type: (typeof allChangeTypes)[number]): string => {
  const { meaning, ids, maybe, data, example } = changeTypes[type]
  const carried = [...ids.map((id) => `\`${id}\``), ...maybe.map((id) => `\`${id}\` (or null)`)]
  const rows = rowsOf(z.toJSONSchema(data, { io: 'output' }))
  return [
    `### \`${type}\``,
    wrapped(`${meaning}${carried.length === 0 ? '' : ` Carries ${carried.join(', ')}.`}`).replaceAll('\n  ', '\n'),
    '',
    ...(rows.length === 0
      ? ['`data` is empty.', '']
      : [...rows.map(wrapped), '', '```json', JSON.stringify(example, null, 2), '```', '']),
  ].join('\n')
}

const introduction = `# Changes: what the feed contains

<!-- Made from src/domain/changes by npm run changes-page. -->
Everything that changes is recorded in \`warehouse.changes\`, in the transaction of the change, and served by \`GET /v1/changes\`: in commit order, without gaps.

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
- **Pages.** \`?after=<seq>\` continues behind a change; \`nextCursor\` is the position to continue with, also when a page is empty. \`after=now\` begins with what
  comes. \`limit\` is at most 1,000.
- **Long poll.** \`?wait=<seconds>\` delays an empty answer until something changes, up to 60 seconds.
- **Server-sent events.** \`Accept: text/event-stream\`: messages without an event name, so that \`onmessage\` of any \`EventSource\` gets them; \`id\` is the
  sequence number, and \`Last-Event-ID\` resumes behind it.
- **CloudEvents.** \`Accept: application/cloudevents-batch+json\`: an array of CloudEvents 1.0. \`id\` is the sequence number, \`source\` is \`/tallyman/\` and the
  seller, \`subject\` the order, return or command; the ids are extension attributes in lower case (\`purchaseorderid\`). The header \`link\` has the next page.
- **CSV.** \`Accept: text/csv\`: all changes from the position up to now, as a stream.
- **Filters.** \`types\` (separated by commas; \`order.*\` means all that begin with \`order.\`), \`sellerId\`, \`purchaseOrderId\`. The position advances past changes
  that do not fit, so none is skipped and none is read twice. They hold for every form.
- **Errors.** 410 \`changes-gone\`: the next change has been removed (\`RETAIN_CHANGES\`). 400 \`position-beyond-end\`: the feed has never been there; the position
  is of another database, or this one was restored from a backup. Both name the position to continue with, after reading the tables.

A list that is always read completely (taxonomy, targets, sales channels) is one change when it is read for the first time: \`….loaded\`. A change from which an
erased buyer had to be removed has the data \`{"erased": true}\`. New types and new members may be added; a reader ignores what it does not know.

The package exports the changes as TypeScript types, made from the same schemas: \`import type { Change, ChangeOf } from 'tallyman/types'\`.

## Types
Times are ISO 8601 in UTC; money and other decimals are text.

`

/** The text of docs/changes.md. */
export const changesPage = (): string => `${introduction}${allChangeTypes.map(sectionOf).join('\n')}`
