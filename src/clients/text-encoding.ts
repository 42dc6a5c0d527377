import { type Body, ownedBody } from './body.ts'

/** The encodings that a byte order mark distinguishes from UTF-8, by its first two bytes. */
const encodings = [
  { mark: [0xff, 0xfe], name: 'utf-16le' },
  { mark: [0xfe, 0xff], name: 'utf-16be' },
] as const

/** A text file as UTF-8, whatever its byte order mark says that it is in; one without a mark, or with that of UTF-8, comes through as it is. */
export const asUtf8 = (bytes: Body): Body => ownedBody(decoded(bytes), () => bytes.return())

const decoded = async function* (bytes: Body): Body {
  const encoder = new TextEncoder()
  let head: Uint8Array = new Uint8Array(0)
  let decoder: InstanceType<typeof TextDecoder> | null = null
  let isDecided = false
  for await (const piece of bytes) {
    let rest: Uint8Array = piece
    if (!isDecided) {
      rest = Buffer.concat([head, piece])
      if (rest.length < 2) {
        head = rest
        continue
      }
      isDecided = true
      const found = encodings.find(({ mark: [first, second] }) => rest[0] === first && rest[1] === second)
      decoder = found === undefined ? null : new TextDecoder(found.name)
    }
    const text: Uint8Array = decoder === null ? rest : encoder.encode(decoder.decode(rest, { stream: true }))
    if (text.length > 0) yield text
  }
  const last = isDecided ? encoder.encode(decoder?.decode() ?? '') : head
  if (last.length > 0) yield last
}
