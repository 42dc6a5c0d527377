import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')
/** Rooms that every other room may use; arrows to them would hide the others. */
const usedByAll: ReadonlySet<string> = new Set(['util', 'observability', 'config'])

type Imports = ReadonlyMap<string, ReadonlySet<string>>

/** The room of a file of `src`. The files at the top belong to `daemon` and `cli`. */
const findRoom = (file: string): string => {
  const [room = ''] = file.split('/')
  if (!room.endsWith('.ts')) return room
  return room === 'cli.ts' ? 'cli' : 'daemon'
}

/** Which room of `src` imports which. */
const readImports = (): Imports => {
  const source = path.join(root, 'src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('store/generated/'),
  )
  const imports = new Map<string, Set<string>>()
  for (const file of files) {
    const room = findRoom(file)
    for (const [, target = ''] of readFileSync(path.join(source, file), 'utf8').matchAll(/from '(\.[^']+)'/g)) {
      const other = findRoom(path.posix.join(path.posix.dirname(file), target))
      if (other === room || usedByAll.has(other) || usedByAll.has(room)) continue
      imports.set(room, (imports.get(room) ?? new Set()).add(other))
    }
  }
  return imports
}

/** Whether imports lead from one room to another one. */
const reaches = (imports: Imports, from: string, to: string, seen = new Set<string>()): boolean =>
  [...(imports.get(from) ?? [])].some((next) => {
    if (seen.has(next)) return false
    seen.add(next)
    return next === to || reaches(imports, next, to, seen)
  })

/** The imports of the rooms as a mermaid diagram, without those that others imply: `daemon` uses `domain` through `jobs`. */
const drawMap = (imports: Imports): string => {
  const arrows = [...imports].flatMap(([room, others]) =>
    [...others]
      .filter((other) => ![...others].some((third) => third !== other && reaches(imports, third, other)))
      .map((other) => `  ${room} --> ${other}`),
  )
  return ['```mermaid', 'flowchart TD', ...arrows.sort(), '```'].join('\n')
}

/** The text of ARCHITECTURE.md with the map of the rooms as they are. */
export const withMap = (text: string): string =>
  text.replace(
    /(<!-- map: made by npm run architecture -->\n)[\s\S]*?\n?(<!-- end of map -->)/,
    (_, begin: string, end: string) => `${begin}${drawMap(readImports())}\n${end}`,
  )
