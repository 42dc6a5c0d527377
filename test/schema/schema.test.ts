import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { typedSchema } from './typed-schema.ts'

const stage = withDatabase()

const schemaFile = () => readFile('prisma/schema.prisma', 'utf8')

/** The text of one model, with its `///` line. */
const formatModel = (schema: string, name: string): string =>
  new RegExp(`^/// [^\\n]*\\nmodel ${name} \\{\\n.*?^\\}\\n`, 'ms').exec(schema)?.[0] ?? ''

test('prisma/schema.prisma is what the migrations make of it', async () => {
  const schema = await schemaFile()
  expect(await typedSchema(stage.url, schema), 'prisma/schema.prisma is out of date: npm run schema writes it').toBe(schema)
})

describe('another schema', () => {
  beforeAll(async () => {
    await stage.database.query(`CREATE TABLE tallyman.odd_entries (
      entry_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, command_id text NOT NULL REFERENCES tallyman.commands (id) ON DELETE CASCADE,
      noted_at timestamptz(3) NOT NULL DEFAULT now(), read_at timestamptz(3), marks text[] NOT NULL, UNIQUE (command_id, noted_at))`)
    await stage.database.query(`CREATE INDEX ON tallyman.odd_entries (read_at)`)
  })

  test('a new table has to be commented by its migration', async () => {
    await expect(typedSchema(stage.url, await schemaFile())).rejects.toThrow(
      /^tallyman\.odd_entries has no comment.*COMMENT ON TABLE/,
    )
  })

  test('a new table becomes a model, and columns, types and keys are those of the database, whatever the file says', async () => {
    const file = await schemaFile()
    const line = formatModel(file, 'SettlementLine')
    const wrong = line
      .replace(/^ {2}rowNumber .*\n/m, '')
      .replace('quantity          Int?', 'quantity          String')
      .replace('@@id([sellerId, lineKey])', '@@id([lineKey])')
    expect(wrong).not.toMatch(/rowNumber|Int\?|\[sellerId/)
    await stage.database.query(`COMMENT ON TABLE tallyman.odd_entries IS 'An entry
      that is odd.'`)
    const schema = await typedSchema(stage.url, file.replace(line, wrong))
    expect(formatModel(schema, 'SettlementLine')).toBe(line)
    expect(formatModel(schema, 'OddEntry')).toBe(`/// An entry that is odd.
model OddEntry {
  entryId   BigInt    @id @default(autoincrement()) @map("entry_id")
  commandId String    @map("command_id")
  notedAt   DateTime  @default(dbgenerated("now()")) @map("noted_at") @db.Timestamptz(3)
  readAt    DateTime? @map("read_at") @db.Timestamptz(3)
  marks     String[]
  command   Command   @relation(fields: [commandId], references: [id], onDelete: Cascade, onUpdate: NoAction)

  @@unique([commandId, notedAt])
  @@map("odd_entries")
  @@schema("tallyman")
}
`)
    expect(formatModel(schema, 'Command')).toMatch(/^ {2}oddEntries +OddEntry\[\]$/m)
    // Once it is there, its names stand.
    expect(await typedSchema(stage.url, schema)).toBe(schema)
  })
})
