// Writes types/index.d.ts from the OpenAPI document: node test/types/main.ts
import { writeFile } from 'node:fs/promises'
import { documentOfServer, readDeclarations } from './declarations.ts'

await writeFile('types/index.d.ts', await readDeclarations(await documentOfServer()))
