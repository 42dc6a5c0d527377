import { crc32, deflateRawSync } from 'node:zlib'

const localHeader = 0x04034b50
const centralHeader = 0x02014b50
const endOfList = 0x06054b50
const version = 20
const deflated = 8

/** A ZIP archive of these files, by their names. */
export const zip = (files: Readonly<Record<string, string>>): Buffer => {
  const parts: Buffer[] = []
  const list: Buffer[] = []
  let offset = 0
  for (const [fileName, text] of Object.entries(files)) {
    const name = Buffer.from(fileName)
    const content = Buffer.from(text)
    const packed = deflateRawSync(content)
    /** The fields that both headers of a file have, after their versions. */
    const fields = Buffer.alloc(24)
    fields.writeUInt16LE(deflated, 2)
    fields.writeUInt32LE(crc32(content), 8)
    fields.writeUInt32LE(packed.length, 12)
    fields.writeUInt32LE(content.length, 16)
    fields.writeUInt16LE(name.length, 20)
    const local = Buffer.alloc(6)
    local.writeUInt32LE(localHeader)
    local.writeUInt16LE(version, 4)
    const central = Buffer.alloc(8)
    central.writeUInt32LE(centralHeader)
    central.writeUInt16LE(version, 4)
    central.writeUInt16LE(version, 6)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    const whole = Buffer.concat([local, fields, name, packed])
    parts.push(whole)
    list.push(Buffer.concat([central, fields, place, name]))
    offset += whole.length
  }
  const listBytes = list.reduce((sum, { length }) => sum + length, 0)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(endOfList)
  end.writeUInt16LE(list.length, 8)
  end.writeUInt16LE(list.length, 10)
  end.writeUInt32LE(listBytes, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, ...list, end])
}
