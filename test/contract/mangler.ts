import http from 'node:http'
import { onTestFinished } from 'vitest'
import type { Between } from './rehearse.ts'

/** What happens to the body of an answer on its way; null leaves it as it is. */
export type Mangle = (body: string, operation: { readonly method: string; readonly path: string }) => string | null

/** Stands between a client and the sandbox and passes everything on, but for what `mangle` does to bodies. */
export interface Mangler {
  readonly between: Between
  /** From now on; null passes everything on as it is. */
  mangle(how: Mangle | null): void
}

/** A proxy on a free port, ended with the test. */
export const createMangler = (): Mangler => {
  let how: Mangle | null = null
  return {
    mangle: (next) => {
      how = next
    },
    between: async (sandboxUrl) => {
      const server = http.createServer((request, response) => {
        const target = http.request(
          `${sandboxUrl}${request.url ?? ''}`,
          { method: request.method, headers: request.headers },
          (answer) => {
            const chunks: Buffer[] = []
            answer.on('data', (chunk: Buffer) => chunks.push(chunk))
            answer.on('end', () => {
              const body = Buffer.concat(chunks)
              const path = (request.url ?? '').split('?')[0] ?? ''
              const changed = how?.(body.toString('utf8'), { method: request.method ?? '', path }) ?? null
              const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = answer.headers
              const sent = changed === null ? body : Buffer.from(changed)
              response.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': sent.length })
              response.end(sent)
            })
          },
        )
        target.on('error', () => response.destroy())
        request.pipe(target)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(
        () =>
          new Promise<void>((resolve) => {
            server.close(() => resolve())
            server.closeAllConnections()
          }),
      )
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('the proxy listens on no port')
      return `http://127.0.0.1:${address.port}`
    },
  }
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** One way to corrupt a document. `place` and `kind` are any numbers: they choose. */
export interface Spoiling {
  readonly place: number
  readonly kind: number
}

interface Slot {
  readonly holder: Json[] | { [name: string]: Json }
  readonly key: string | number
}

const findSlots = (value: Json, found: Slot[] = []): Slot[] => {
  if (Array.isArray(value)) {
    for (const [index, part] of value.entries()) {
      found.push({ holder: value, key: index })
      findSlots(part, found)
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      found.push({ holder: value, key: name })
      findSlots(part, found)
    }
  }
  return found
}

const page = '<!DOCTYPE html><html><body><h1>Service Unavailable</h1></body></html>'
const strange: readonly Json[] = [
  null,
  'SOMETHING_NEW',
  -1,
  1.5,
  1e300,
  true,
  [],
  {},
  [[{}]],
  { a: { b: [1] } },
  '',
  '\u0000',
  'x'.repeat(5_000),
]

/** A corrupted document: a field gone, null, of another type or of an unknown value; cut short; a page of HTML; nothing; or huge. */
export const corrupt = (text: string, { place, kind }: Spoiling): string => {
  const ways = strange.length + 6
  const way = kind % ways
  if (way === ways - 1) return text.slice(0, place % Math.max(1, text.length))
  if (way === ways - 2) return page
  if (way === ways - 3) return ''
  if (way === ways - 4) return `{"padding":"${'x'.repeat(2_000_000)}",${text.trimStart().slice(1)}`
  if (way === ways - 5) return `[${text}]`
  const document: Json = JSON.parse(text)
  const slots = findSlots(document)
  const slot = slots[place % Math.max(1, slots.length)]
  if (slot === undefined) return JSON.stringify(strange[way % strange.length] ?? null)
  if (way === strange.length) {
    if (Array.isArray(slot.holder)) slot.holder.splice(Number(slot.key), 1)
    else delete slot.holder[slot.key]
  } else {
    Reflect.set(slot.holder, slot.key, strange[way] ?? null)
  }
  return JSON.stringify(document)
}
