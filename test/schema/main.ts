// Writes prisma/schema.prisma from the migrations, by way of a database of its own: node test/schema/main.ts
import { readFile, writeFile } from 'node:fs/promises'
import { startTestPostgres } from '../support/postgres.ts'
import { typedSchema } from './typed-schema.ts'

const file = 'prisma/schema.prisma'
const postgres = await startTestPostgres()
try {
  await writeFile(file, await typedSchema(await postgres.database(), await readFile(file, 'utf8')))
} finally {
  await postgres.stop()
}
